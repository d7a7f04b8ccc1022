// What a full disk does to files: a disk of one mebibyte that only a child process sees.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace cudal1::testing {

inline constexpr int cannot_make_a_disk = 77;

//! Root of a namespace of its own: without that no file on a disk mounted there would have an owner.
inline bool become_root_of_a_namespace() {
  const std::string user = std::to_string(getuid()), group = std::to_string(getgid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  const auto write_line = [](const char* file, const std::string& line) {
    const UniqueFd descriptor(open(file, O_WRONLY));
    return write(descriptor.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
  };
  return write_line("/proc/self/setgroups", "deny") && write_line("/proc/self/uid_map", "0 " + user + " 1") &&
         write_line("/proc/self/gid_map", "0 " + group + " 1");
}

inline bool mount_small_disk(const std::filesystem::path& folder) {
  if (unshare(CLONE_NEWNS) != 0 && !become_root_of_a_namespace()) return false;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") == 0;
}

//! In the child, which knows no assertions.
inline void demand(bool condition, const std::string& what) {
  if (!condition) throw Error(what);
}

inline int exit_code_on_small_disk(const std::filesystem::path& folder, const std::function<void()>& work) {
  if (!mount_small_disk(folder)) return cannot_make_a_disk;
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    dprintf(STDERR_FILENO, "%s\n", error.what());
    return 1;
  }
}

//! `work` finds the disk at `folder`. The test is skipped where no disk can be mounted.
inline void run_on_small_disk(const std::filesystem::path& folder, const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(exit_code_on_small_disk(folder, work));
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == cannot_make_a_disk)
    GTEST_SKIP() << "this process may not mount a small disk of its own: needs root or user namespaces";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace cudal1::testing
