#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "archive/archive.hpp"
#include "archive_fixture.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/unique_fd.hpp"

namespace cudal1 {
namespace {

constexpr int cannot_make_a_disk = 77;

//! Root of a namespace of its own: without that no file on a disk mounted there would have an owner.
bool become_root_of_a_namespace() {
  const std::string user = std::to_string(getuid()), group = std::to_string(getgid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  const auto write_line = [](const char* file, const std::string& line) {
    const UniqueFd descriptor(open(file, O_WRONLY));
    return write(descriptor.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
  };
  return write_line("/proc/self/setgroups", "deny") && write_line("/proc/self/uid_map", "0 " + user + " 1") &&
         write_line("/proc/self/gid_map", "0 " + group + " 1");
}

//! A disk of one mebibyte that only this process sees.
bool mount_small_disk(const std::filesystem::path& folder) {
  if (unshare(CLONE_NEWNS) != 0 && !become_root_of_a_namespace()) return false;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") == 0;
}

void demand(bool condition, const std::string& what) {
  if (!condition) throw Error(what);
}

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

int run_on_small_disk(const std::filesystem::path& folder) {
  if (!mount_small_disk(folder)) return cannot_make_a_disk;
  try {
    fill_and_recover(folder / "archive.sqlite");
    return 0;
  } catch (const std::exception& error) {
    dprintf(STDERR_FILENO, "%s\n", error.what());
    return 1;
  }
}

TEST_F(ArchiveTest, AFullDiskIsAnErrorThatLosesNothing) {
  const pid_t child = fork();
  if (child == 0) _exit(run_on_small_disk(folder_));
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == cannot_make_a_disk)
    GTEST_SKIP() << "this process may not mount a small disk of its own: needs root or user namespaces";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace cudal1
