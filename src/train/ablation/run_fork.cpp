#include "train/ablation/run_fork.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

void copy_whole(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (std::filesystem::exists(from)) write_file_atomically(to, read_file(from));
}

}  // namespace

std::optional<Checkpoint> end_of_stage(const std::filesystem::path& checkpoints, const std::string& stage) {
  std::optional<Checkpoint> end;
  for (Checkpoint& each : finished_checkpoints(checkpoints))
    if (each.name().stage == stage && each.notes().value("finished", false)) end = std::move(each);
  return end;
}

//! The checkpoint comes last: without it nothing was forked.
void fork_run(const RunFolder& from, const std::string& stage, const RunFolder& to) {
  if (newest_checkpoint(to.checkpoints())) return;
  const std::optional<Checkpoint> end = end_of_stage(from.checkpoints(), stage);
  if (!end) throw Error(fmt::format("{}: its stage {} is not through", from.path().string(), stage));
  copy_whole(from.path() / "variants.jsonl", to.path() / "variants.jsonl");
  copy_whole(from.examples(), to.examples());
  copy_whole(from.metrics(), to.metrics());
  copy_whole(from.history(), to.history());  // what is validated is not validated again
  CheckpointWriter writer(to.checkpoints(), end->name());
  for (const std::string& file : end->files()) writer.add_bytes(file, end->read(file));
  writer.finish(end->notes());
}

}  // namespace cudal1
