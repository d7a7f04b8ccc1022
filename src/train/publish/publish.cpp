#include "train/publish/publish.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/files.hpp"
#include "base/result.hpp"
#include "model/files/lora_adapter.hpp"
#include "model/files/model_store.hpp"
#include "train/course/course_prompts.hpp"
#include "train/publish/finished_run.hpp"
#include "train/publish/model_card.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

//! In bf16; the file's header is a few kilobytes more.
std::int64_t weight_bytes(const FinishedRun& run) { return 2 * run.numbers; }

void check_size(const FinishedRun& run) {
  if (weight_bytes(run) <= most_adapter_bytes) return;
  throw Error(fmt::format("{}: the adapter takes {} in bf16, and {} is the most that is published; train with a "
                          "smaller rank (model.rank, here {})",
                          run.adapter.string(), size_text(weight_bytes(run)), size_text(most_adapter_bytes), run.rank));
}

//! As somebody else would write it: where files lay on one machine is no setting.
TrainingConfig without_paths(const FinishedRun& run) {
  TrainingConfig config = run.config;
  config.model.path = run.base_sha256 == starting_model.sha256 ? fs::path() : config.model.path.filename();
  config.model.adapter = config.model.adapter.filename();
  config.judge.archive.clear();
  return config;
}

//! A folder beside it that takes its place once it is whole.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& wanted)
      : wanted_(wanted), made_(fmt::format("{}.{}.partial", wanted.string(), ::getpid())) {
    std::error_code problem;
    if (fs::exists(wanted, problem))
      throw Error(fmt::format("{}: is there already; name another folder, or remove it first", wanted.string()));
    fs::create_directories(made_, problem);
    if (problem) throw Error(fmt::format("{}: {}", made_.string(), problem.message()));
  }
  ~NewFolder() { remove_folder(made_); }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const fs::path& path() const { return made_; }

  void finish() const {
    if (std::rename(made_.c_str(), wanted_.c_str()) != 0)
      throw Error(fmt::format("{}: {}", wanted_.string(), std::strerror(errno)));
  }

 private:
  fs::path wanted_, made_;
};

//! "models/first/" is models/first.
fs::path without_slash(const fs::path& folder) { return folder.has_filename() ? folder : folder.parent_path(); }

}  // namespace

PublishedAdapter publish_run(const fs::path& run_folder, const fs::path& folder) {
  const FinishedRun run = read_finished_run(run_folder);
  check_size(run);
  const fs::path wanted = without_slash(folder);
  const NewFolder made(wanted);
  copy_lora_adapter(run.adapter, made.path(), AdapterStorage::bf16);
  save_trained_prompt(trained_prompt_of(run.config), made.path());
  write_file_atomically(made.path() / "config.toml", to_toml(without_paths(run)));
  write_file_atomically(made.path() / "README.md", model_card(run, wanted.filename().string(), weight_bytes(run)));
  made.finish();
  return {wanted, run.base_name, run.base_sha256, weight_bytes(run)};
}

}  // namespace cudal1
