#include "judge/compile_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>

namespace cudal1 {
namespace {

using namespace std::chrono_literals;

CompiledProgram named(const std::string& name, const std::string& text) { return {name, text, {}, {}, {}}; }

TEST(CompileQueue, KeepsTheOrderOfManyProgramsAndStartsNoMoreThreadsThanJobs) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> now = 0, most = 0;
  CompileQueue queue(
      [&](const std::string& name, const std::string& text) {
        const int at_once = ++now;
        {
          const std::lock_guard lock(mutex);
          threads.insert(std::this_thread::get_id());
          most = std::max(most.load(), at_once);
        }
        std::this_thread::sleep_for(std::stoi(name) % 3 * 500us);  // so that later ones are done first
        --now;
        return named(name, text);
      },
      4);
  for (int i = 0; i < 300; ++i) queue.add(std::to_string(i), "text");
  for (int i = 0; i < 300; ++i) EXPECT_EQ(queue.next().name, std::to_string(i));
  EXPECT_LE(threads.size(), 4u);
  EXPECT_LE(most, 4);
}

TEST(CompileQueue, WorksWithNoJobsAtAll) {
  CompileQueue queue(named, 0);
  queue.add("a", "text");
  EXPECT_EQ(queue.next().name, "a");
}

TEST(CompileQueue, GivesOutWhatNeedsNoCompilerInItsTurn) {
  CompileQueue queue(named, 1);
  queue.add("a", "text");
  queue.add({"b", "start of a text", Failure{Status::parse_error, "too large"}, {}, {}});
  queue.add("c", "text");
  EXPECT_EQ(queue.next().name, "a");
  EXPECT_EQ(queue.next().failure->message, "too large");
  EXPECT_EQ(queue.next().name, "c");
}

TEST(CompileQueue, TurnsAnExceptionIntoAFailureOfItsProgram) {
  CompileQueue queue([](const std::string&, const std::string&) -> CompiledProgram { throw Error("disk full"); }, 1);
  queue.add("a", "text");
  const CompiledProgram program = queue.next();
  EXPECT_EQ(program.name, "a");
  ASSERT_TRUE(program.failure);
  EXPECT_EQ(program.failure->status, Status::judge_error);
  EXPECT_EQ(program.failure->message, "disk full");
}

TEST(CompileQueue, DropsWhatNobodyWaitsForWhenItGoes) {
  std::atomic<int> compiled = 0;
  {
    CompileQueue queue(
        [&](const std::string& name, const std::string& text) {
          std::this_thread::sleep_for(20ms);
          ++compiled;
          return named(name, text);
        },
        1);
    for (int i = 0; i < 300; ++i) queue.add(std::to_string(i), "text");
  }
  EXPECT_LE(compiled, 100);
}

}  // namespace
}  // namespace cudal1
