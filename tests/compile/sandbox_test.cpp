#include "base/sandbox.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <string>
#include <system_error>
#include <thread>

#include "base/files.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

//! What `action` returns inside a process with this policy; -1 when the process died otherwise.
int in_sandbox(const SandboxPolicy& policy, const std::function<bool()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    restrict_this_process(policy);
    ::_exit(action() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool can_open(const fs::path& path, int flags) {
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_ / "allowed");
    std::ofstream(folder_ / "allowed" / "file") << "x";
    std::ofstream(folder_ / "secret") << "x";
    policy_.readable = {folder_ / "allowed", "/does/not/exist"};
  }
  TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
  SandboxPolicy policy_;
};

TEST_F(SandboxTest, OnlyNamedPathsCanBeRead) {
  EXPECT_EQ(in_sandbox(policy_, [&] { return can_open(folder_ / "allowed" / "file", O_RDONLY); }), 1);
  if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(in_sandbox(policy_, [&] { return can_open(folder_ / "secret", O_RDONLY); }), 0);
  EXPECT_EQ(in_sandbox(policy_, [&] { return can_open("/etc/passwd", O_RDONLY); }), 0);
}

TEST_F(SandboxTest, NothingCanBeWrittenOrRemoved) {
  const fs::path file = folder_ / "allowed" / "file";
  for (const int flags : {O_WRONLY, O_RDWR, O_WRONLY | O_APPEND, O_RDONLY | O_TRUNC, O_RDONLY | O_CREAT})
    EXPECT_EQ(in_sandbox(policy_, [&] { return can_open(file, flags); }), 0) << flags;
  EXPECT_EQ(in_sandbox(policy_, [&] { return can_open(folder_ / "allowed" / "new", O_WRONLY | O_CREAT); }), 0);
  EXPECT_EQ(in_sandbox(policy_, [&] { return ::unlink(file.c_str()) == 0; }), 0);
  EXPECT_EQ(in_sandbox(policy_, [&] { return ::rename(file.c_str(), (folder_ / "b").c_str()) == 0; }), 0);
  EXPECT_EQ(in_sandbox(policy_, [&] { return ::truncate(file.c_str(), 0) == 0; }), 0);
  EXPECT_EQ(in_sandbox(policy_, [&] { return ::chmod(file.c_str(), 0777) == 0; }), 0);
}

TEST_F(SandboxTest, WritablePathsCanBeWrittenButNotCreated) {
  policy_.writable = {folder_ / "allowed" / "file"};
  EXPECT_EQ(in_sandbox(policy_, [&] { return can_open(folder_ / "allowed" / "file", O_RDWR); }), 1);
  EXPECT_EQ(in_sandbox(policy_, [&] { return can_open(folder_ / "allowed" / "new", O_RDWR | O_CREAT); }), 0);
  if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(in_sandbox(policy_, [&] { return can_open(folder_ / "secret", O_RDWR); }), 0);
}

TEST_F(SandboxTest, ScratchFoldersTakeFilesAndNothingElseDoes) {
  if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  fs::create_directory(folder_ / "scratch");
  policy_.scratch = {folder_ / "scratch"};
  EXPECT_EQ(in_sandbox(policy_, [&] { return can_open(folder_ / "scratch" / "new", O_CREAT | O_WRONLY); }), 1);
  EXPECT_EQ(in_sandbox(policy_, [&] { return ::unlink((folder_ / "scratch" / "new").c_str()) == 0; }), 1);
  EXPECT_EQ(in_sandbox(policy_, [&] { return can_open(folder_ / "new", O_CREAT | O_WRONLY); }), 0);
  EXPECT_EQ(in_sandbox(policy_, [&] { return can_open(folder_ / "allowed" / "file", O_WRONLY); }), 0);
  EXPECT_EQ(in_sandbox(policy_, [&] { return ::unlink((folder_ / "allowed" / "file").c_str()) == 0; }), 0);
  EXPECT_EQ(in_sandbox(policy_, [&] { return can_open(folder_ / "secret", O_RDONLY); }), 0);
}

TEST_F(SandboxTest, ProcessesCanBeStartedWhereAllowed) {
  const auto forks = [] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    return child > 0 && ::waitpid(child, nullptr, 0) == child;
  };
  EXPECT_EQ(in_sandbox(policy_, forks), 0);
  policy_.allow_processes = true;
  EXPECT_EQ(in_sandbox(policy_, forks), 1);
  EXPECT_EQ(in_sandbox(policy_, [] { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }), 0);
}

TEST_F(SandboxTest, NoNetwork) {
  EXPECT_EQ(in_sandbox(policy_, [] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; }), 0);
  EXPECT_EQ(in_sandbox(policy_, [] { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }), 0);
}

TEST_F(SandboxTest, NoOtherProcesses) {
  EXPECT_EQ(in_sandbox(policy_,
                       [] {
                         const pid_t child = ::fork();
                         if (child == 0) ::_exit(0);
                         return child > 0;
                       }),
            0);
  EXPECT_EQ(in_sandbox(policy_,
                       [] {
                         char name[] = "/bin/true";
                         char* arguments[] = {name, nullptr};
                         ::execv(name, arguments);
                         return false;
                       }),
            0);
  EXPECT_EQ(in_sandbox(policy_, [] { return ::kill(::getppid(), 0) == 0; }), 0);
  EXPECT_EQ(in_sandbox(policy_, [] { return ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr) == 0; }), 0);
  EXPECT_EQ(in_sandbox(policy_,
                       [] {
                         const rlimit none{0, 0};
                         return ::prlimit(::getppid(), RLIMIT_NOFILE, &none, nullptr) == 0;
                       }),
            0);
}

TEST_F(SandboxTest, ThreadsWorkWhereAllowed) {
  const auto start_thread = [] {
    try {
      std::thread([] {}).join();
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  };
  EXPECT_EQ(in_sandbox(policy_, start_thread), 1);
  policy_.allow_threads = false;
  EXPECT_EQ(in_sandbox(policy_, start_thread), 0);
}

//! Whether a thread that was there before the restrictions opens the file afterwards.
bool older_thread_opens(const SandboxPolicy& policy, const fs::path& file) {
  std::promise<void> restricted;
  bool opened = false;
  std::thread older([&] {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);  // as threads of libraries do
    restricted.get_future().wait();
    opened = can_open(file, O_RDONLY);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  restrict_this_process(policy);
  restricted.set_value();
  older.join();
  return opened;
}

TEST_F(SandboxTest, ThreadsThatRunAlreadyAreRestrictedOnRequest) {
  if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const auto opens = [&](const fs::path& file) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(older_thread_opens(policy_, file) ? 1 : 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(opens(folder_ / "secret"), 1);  // Landlock restricts threads, not processes
  policy_.every_thread = true;
  EXPECT_EQ(opens(folder_ / "secret"), 0);
  EXPECT_EQ(opens(folder_ / "allowed" / "file"), 1);
}

TEST_F(SandboxTest, OpenDescriptorsStayUsable) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(in_sandbox(policy_, [&] { return ::write(ends[1], "x", 1) == 1; }), 1);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace cudal1
