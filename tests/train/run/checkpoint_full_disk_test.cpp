// A full disk costs the new checkpoint, not the old one.
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "error_of.hpp"
#include "small_disk.hpp"
#include "train/run/checkpoint.hpp"

namespace cudal1 {
namespace {

using testing::demand;

void write_one(const std::filesystem::path& checkpoints, std::int64_t step, std::size_t bytes) {
  CheckpointWriter writer(checkpoints, {"supervised", step});
  writer.add_bytes("optimizer", std::string(bytes, 'o'));
  writer.add_bytes("adapter", std::string(bytes, 'a'));
  writer.finish({});
}

void fill_and_recover(const std::filesystem::path& checkpoints) {
  write_one(checkpoints, 10, 200'000);
  const std::string message = error_of([&] { write_one(checkpoints, 20, 400'000); });
  demand(message.find("supervised-000020/adapter.000: cannot write: No space left on device") != std::string::npos,
         "the error does not name file and cause: " + message);
  demand(message.find('\n') == std::string::npos, "the error has several lines: " + message);
  demand(!std::filesystem::exists(checkpoints / "supervised-000020"), "the part of a checkpoint takes room");
  const std::optional<Checkpoint> newest = newest_checkpoint(checkpoints);
  demand(newest && newest->name().step == 10, "the old checkpoint is gone");
  demand(newest->read("optimizer").size() == 200'000, "the old checkpoint cannot be read");
  write_one(checkpoints, 20, 100'000);
  demand(newest_checkpoint(checkpoints)->name().step == 20, "a smaller one was not written");
}

TEST(CheckpointOnAFullDisk, LeavesTheOldOneUsable) {
  const TemporaryFolder folder;
  testing::run_on_small_disk(folder.path(), [&] { fill_and_recover(folder.path() / "checkpoints"); });
}

}  // namespace
}  // namespace cudal1
