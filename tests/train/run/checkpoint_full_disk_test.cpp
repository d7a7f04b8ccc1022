// A full disk costs the new checkpoint, not the old one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/files.hpp"
#include "base/unique_fd.hpp"
#include "error_of.hpp"
#include "train/run/checkpoint.hpp"

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

int run_on_small_disk(const std::filesystem::path& folder) {
  if (!mount_small_disk(folder)) return cannot_make_a_disk;
  try {
    fill_and_recover(folder / "checkpoints");
    return 0;
  } catch (const std::exception& error) {
    dprintf(STDERR_FILENO, "%s\n", error.what());
    return 1;
  }
}

TEST(CheckpointOnAFullDisk, LeavesTheOldOneUsable) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) _exit(run_on_small_disk(folder.path()));
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == cannot_make_a_disk)
    GTEST_SKIP() << "this process may not mount a small disk of its own: needs root or user namespaces";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace cudal1
