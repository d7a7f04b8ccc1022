#include "cli/module_source.hpp"

#include <filesystem>

#include "base/files.hpp"

namespace cudal1 {

std::string module_source(const Task& task) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  const std::filesystem::path file = task.folder / "source.py";
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) ? read_file(file, most_bytes) : std::string();
}

}  // namespace cudal1
