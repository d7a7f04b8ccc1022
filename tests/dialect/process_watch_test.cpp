// A process seen from outside: what it starts, and what it does when nobody asks.
#include "dialect/process_watch.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "base/child_process.hpp"

namespace cudal1 {
namespace {

using std::chrono::milliseconds;

ChildProcess start_shell(const std::string& script) {
  ChildOptions options;
  options.arguments = {"/bin/sh", "-c", script};
  options.environment = minimal_environment();
  return ChildProcess::start(options);
}

ProcessCount count_once_there_are(const ProcessWatch& watch, int processes) {
  ProcessCount count;
  for (int i = 0; i < 200 && (count = watch.count()).processes < processes; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  return count;
}

TEST(ProcessWatch, CountsAndKillsWhatAProcessStartedInOtherGroupsToo) {
  ChildProcess child = start_shell("setsid sleep 60 & sh -c 'sleep 60; true' & wait");
  const ProcessWatch watch(child.pid());
  const ProcessCount count = count_once_there_are(watch, 3);
  EXPECT_GE(count.processes, 3);
  EXPECT_EQ(count.threads, count.processes);
  watch.kill_descendants();
  EXPECT_EQ(watch.count().processes, 0);
}

TEST(ProcessWatch, FirstThreadsDoNotCountAsBackground) {
  ChildProcess child = start_shell("sh -c 'while :; do :; done' & wait");
  const ProcessWatch watch(child.pid());
  count_once_there_are(watch, 1);
  EXPECT_LT(watch.background_load(milliseconds(100)), 0.05);
}

TEST(ProcessWatch, SeesProcessesWhoseSystemCallsAreNotFiltered) {
  ChildProcess child = start_shell("sleep 60 & wait");
  const ProcessWatch watch(child.pid());
  count_once_there_are(watch, 1);
  EXPECT_TRUE(watch.has_unfiltered_thread());
}

}  // namespace
}  // namespace cudal1
