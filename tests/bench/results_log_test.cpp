#include "bench/results_log.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "base/files.hpp"
#include "base/result.hpp"
#include "bench/bench_run.hpp"

namespace cudal1 {
namespace {

BenchRow row(const std::string& name, const std::string& status = "ok") {
  BenchRow made;
  made.suite = std::string("s");
  made.name = name;
  made.level = 1;
  made.status = status;
  made.ways = {{"program", {1.0, 2.0}, 1.0, 0.0, {}}};
  return made;
}

class ResultsLogTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "results.jsonl";
};

TEST_F(ResultsLogTest, KeepsTheLastRowOfATask) {
  ResultsLog log(file_);
  log.append(row("a", "failed"));
  log.append(row("b"));
  log.append(row("a"));
  const auto rows = read_results(file_);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].status, "ok");
}

TEST_F(ResultsLogTest, ALineThatAKillCutShortCostsThatLineOnly) {
  ResultsLog(file_).append(row("a"));
  std::ofstream(file_, std::ios::app) << R"({"suite": "s", "level": 1, "na)";
  EXPECT_EQ(read_results(file_).size(), 1u);
  ResultsLog(file_).append(row("b"));
  EXPECT_EQ(read_results(file_).size(), 2u);
}

TEST_F(ResultsLogTest, AForeignFileIsNamedWithItsLine) {
  std::ofstream(file_) << "{\"something\": 1}\n";
  try {
    read_results(file_);
    FAIL();
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("results.jsonl:1: this is no row of a bench"), std::string::npos);
  }
}

TEST_F(ResultsLogTest, NoFileIsNoRows) { EXPECT_TRUE(read_results(file_).empty()); }

TEST_F(ResultsLogTest, ManyThreadsMayAppend) {
  ResultsLog log(file_);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&, i] { log.append(row(std::to_string(i))); });
  }
  EXPECT_EQ(read_results(file_).size(), 8u);
}

TEST_F(ResultsLogTest, MergingTakesTheLaterFile) {
  const auto other = folder_.path() / "other.jsonl";
  ResultsLog(file_).append(row("a", "failed"));
  ResultsLog(file_).append(row("b"));
  ResultsLog(other).append(row("a"));
  const auto rows = merged_results({file_, other});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].status, "ok");
  EXPECT_THROW(merged_results({file_, folder_.path() / "nowhere"}), Error);
}

TEST_F(ResultsLogTest, ResultsOfDifferentDevicesAreNotMerged) {
  const auto other = folder_.path() / "other.jsonl";
  BenchRow here = row("a"), there = row("b");
  here.device = std::string("one GPU");
  there.device = std::string("another");
  ResultsLog(file_).append(here);
  ResultsLog(other).append(there);
  EXPECT_THROW(merged_results({file_, other}), Error);
}

TEST(BenchRowTest, WhatFailedIsTriedAgainAndVerdictsStand) {
  EXPECT_TRUE(is_final(row("a")));
  EXPECT_TRUE(is_final(row("a", "wrong_result")));
  EXPECT_FALSE(is_final(row("a", "failed")));
  EXPECT_FALSE(is_final(row("a", "no_task")));
  EXPECT_FALSE(is_final(row("a", "unstable"))) << "the machine may be calmer next time";
}

}  // namespace
}  // namespace cudal1
