#include "cli/task_argument.hpp"

#include "bridge/module_task.hpp"
#include "judge/judge.hpp"

namespace cudal1 {

Task load_task_argument(const std::filesystem::path& path) {
  return load_task_with_metas(is_module_file(path) ? task_of_module(path) : path);
}

}  // namespace cudal1
