#include "archive/archive.hpp"
#include "archive_fixture.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "small_disk.hpp"

namespace cudal1 {
namespace {

using testing::demand;

void fill_and_recover(const std::filesystem::path& path) {
  const std::filesystem::path filler = path.parent_path() / "filler";
  write_file_atomically(filler, std::string(300'000, 'f'));
  Archive archive(path);
  int acknowledged = 0;
  std::string message, text;
  while (message.empty()) {
    demand(acknowledged < 1000, "the disk never filled up");
    text = std::to_string(acknowledged) + std::string(30'000, 'x');
    message = error_of([&] { archive.record(example_task, text, example_evaluation()); });
    acknowledged += message.empty() ? 1 : 0;
  }
  demand(message.find(path.string()) != std::string::npos, "the error does not name the file: " + message);
  demand(message.find("full") != std::string::npos, "the error does not name the cause: " + message);
  demand(acknowledged > 0 && archive.count() == acknowledged, "a record was lost or is there in part");
  demand(!archive.program_text(sha256_hex(text)), "the program of the failed record is there");

  std::filesystem::remove(filler);
  archive.record(example_task, text, example_evaluation());
  Archive reopened(path);
  reopened.check_integrity();
  demand(reopened.count() == acknowledged + 1, "the archive did not recover once there was room");
}

TEST_F(ArchiveTest, AFullDiskIsAnErrorThatLosesNothing) {
  testing::run_on_small_disk(folder_, [&] { fill_and_recover(folder_ / "archive.sqlite"); });
}

}  // namespace
}  // namespace cudal1
