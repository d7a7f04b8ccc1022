// What other processes can do to an archive: die in the middle of a write, write at the same time, keep the lock.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <set>
#include <thread>
#include <vector>

#include "archive/archive.hpp"
#include "archive/database.hpp"
#include "archive_fixture.hpp"

namespace cudal1 {
namespace {

//! Runs `action` in a forked process that exits with its result and touches nothing of the test framework.
template <class Action>
pid_t fork_process(Action action) {
  const pid_t child = fork();
  if (child != 0) return child;
  int code = 1;
  try {
    code = action();
  } catch (const std::exception& error) {
    dprintf(STDERR_FILENO, "child: %s\n", error.what());
  }
  _exit(code);
}

int exit_code_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

//! Records without end, and writes each id to the pipe once the archive has acknowledged it.
int record_until_killed(const std::filesystem::path& path, int acknowledgements) {
  Archive archive(path);
  for (int i = 0;; ++i) {
    const std::string text = std::to_string(getpid()) + "-" + std::to_string(i) + std::string(20'000, 'x');
    const std::int64_t id = archive.record(example_task, text, example_evaluation());
    if (write(acknowledgements, &id, sizeof id) != sizeof id) return 1;
  }
}

TEST_F(ArchiveTest, AKillInMidWriteLosesNoAcknowledgedRecord) {
  std::set<std::int64_t> acknowledged;
  for (int round = 0; round < 8; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork_process([&] { return record_until_killed(path_, ends[1]); });
    close(ends[1]);
    std::int64_t id = 0;
    const std::size_t enough = acknowledged.size() + 3 + static_cast<std::size_t>(round);
    while (acknowledged.size() < enough && read(ends[0], &id, sizeof id) == sizeof id) acknowledged.insert(id);
    std::this_thread::sleep_for(std::chrono::microseconds(700 * round));  // another point of the write each time
    kill(child, SIGKILL);
    ASSERT_EQ(exit_code_of(child), -SIGKILL);
    while (read(ends[0], &id, sizeof id) == sizeof id) acknowledged.insert(id);
    close(ends[0]);

    Archive archive(path_);
    archive.check_integrity();
    std::set<std::int64_t> present;
    for (const EvaluationRecord& record : archive.evaluations("task-1")) {
      present.insert(record.id);
      ASSERT_TRUE(archive.program_text(record.program_hash)) << "a record without its program";
    }
    for (const std::int64_t expected : acknowledged) EXPECT_TRUE(present.contains(expected)) << expected;
    EXPECT_LE(present.size(), acknowledged.size() + static_cast<std::size_t>(round) + 1)
        << "at most the record in flight of each round was not acknowledged";
  }
}

TEST_F(ArchiveTest, ProcessesThatOpenAndWriteAtTheSameTimeLoseNothing) {
  std::vector<pid_t> children;
  for (int process = 0; process < 3; ++process)
    children.push_back(fork_process([&] {
      Archive archive(path_);  // all of them make the schema at once
      for (int i = 0; i < 50; ++i)
        archive.record(example_task, std::to_string(getpid() * 1000 + i), example_evaluation());
      return 0;
    }));
  for (const pid_t child : children) EXPECT_EQ(exit_code_of(child), 0);
  Archive archive(path_);
  archive.check_integrity();
  EXPECT_EQ(archive.count(), 150);
}

TEST_F(ArchiveTest, ALockHeldForTooLongIsAnErrorAndForAWhileIsNot) {
  Archive archive(path_);
  Database other(path_);
  {
    Transaction lock(other);
    std::thread patient([&] { archive.record(example_task, "waits", example_evaluation()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    lock.commit();
    patient.join();
  }
  EXPECT_EQ(archive.count(), 1);
  Transaction lock(other);
  const auto start = std::chrono::steady_clock::now();
  const std::string message = error_of([&] { archive.record(example_task, "text", example_evaluation()); });
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds(9));
  EXPECT_NE(message.find("lock"), std::string::npos) << message;
  EXPECT_NE(message.find(path_.string()), std::string::npos) << message;
}

}  // namespace
}  // namespace cudal1
