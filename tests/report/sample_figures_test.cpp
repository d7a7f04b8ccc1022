// Figures of samples on numbers worked by hand, and their files.
#include "report/sample_figures.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/line_log.hpp"
#include "base/result.hpp"
#include "report/sample_report.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

SampleRow sample_of(const std::string& task, int number, const std::string& status,
                    std::optional<double> speedup = {}) {
  SampleRow row;
  row.suite = "suite";
  row.level = 1;
  row.name = task;
  row.sample = number;
  row.policy = "local";
  row.answer = "program";
  row.status = status;
  row.device = "a GPU";
  row.speedup = speedup;
  row.prompt_tokens = 100;
  row.new_tokens = 10;
  row.cost = 0.25;
  return row;
}

SampleRow refusal_of(const std::string& task, int number) {
  SampleRow row = sample_of(task, number, "refusal");
  row.answer = "refusal";
  return row;
}

//! Of A, one of four is right, 1.6 times as fast; of B two are, at 1.2 and 2.5.
std::vector<SampleRow> two_tasks() {
  return {sample_of("1_A", 0, "ok", 1.6),       sample_of("1_A", 1, "wrong_result"),
          sample_of("1_A", 2, "plan_error"),    refusal_of("1_A", 3),
          sample_of("2_B", 0, "ok", 1.2),       sample_of("2_B", 1, "ok", 2.5),
          sample_of("2_B", 2, "compile_error"), sample_of("2_B", 3, "plan_error")};
}

TEST(PassAt, IsTheShareOfChoicesWithASuccess) {
  EXPECT_DOUBLE_EQ(pass_at(1, 4, 1), 0.25);
  EXPECT_DOUBLE_EQ(pass_at(2, 4, 1), 0.5);
  EXPECT_DOUBLE_EQ(pass_at(4, 4, 1), 1.0);
  EXPECT_DOUBLE_EQ(pass_at(2, 4, 2), 5.0 / 6.0);  // of six pairs, one has neither
  EXPECT_DOUBLE_EQ(pass_at(2, 4, 0), 0.0);
  EXPECT_DOUBLE_EQ(pass_at(3, 4, 2), 1.0);
  EXPECT_NEAR(pass_at(100, 1000, 1), 0.1, 1e-12) << "no binomial overflows";
}

TEST(PassAt, SizesDoubleUpToTheLast) {
  EXPECT_EQ(sizes_up_to(1), (std::vector<int>{1}));
  EXPECT_EQ(sizes_up_to(6), (std::vector<int>{1, 2, 4, 6}));
  EXPECT_EQ(sizes_up_to(8), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_TRUE(sizes_up_to(0).empty());
}

TEST(SampleFiguresTest, AreMeansOverTasks) {
  const SampleFigures figures = figures_of_samples("all", two_tasks());
  EXPECT_EQ(figures.tasks, 2);
  EXPECT_EQ(figures.right, 3);
  EXPECT_EQ(figures.sizes, (std::vector<int>{1, 2, 4}));
  EXPECT_DOUBLE_EQ(figures.pass[0], (0.25 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(figures.pass[1], (0.5 + 5.0 / 6.0) / 2);
  EXPECT_DOUBLE_EQ(figures.pass[2], 1.0);
  EXPECT_DOUBLE_EQ(figures.fast[0][0], (0.25 + 0.5) / 2) << "p = 1";
  EXPECT_DOUBLE_EQ(figures.fast[1][0], (0.25 + 0.25) / 2) << "p = 1.5";
  EXPECT_DOUBLE_EQ(figures.fast[2][0], (0.0 + 0.25) / 2) << "p = 2";
  EXPECT_EQ(figures.answers.programs, 7);
  EXPECT_EQ(figures.answers.refusals, 1);
  EXPECT_EQ(figures.statuses.at("plan_error"), 2);
  EXPECT_EQ(figures.prompt_tokens, 800);
  EXPECT_DOUBLE_EQ(figures.cost, 2.0);
}

TEST(SampleFiguresTest, DegenerateTasksAreInNone) {
  std::vector<SampleRow> rows = two_tasks();
  rows[0].degenerate = true;  // its refusal does not know
  EXPECT_EQ(figures_of_samples("all", rows).tasks, 1);
  EXPECT_EQ(figures_of_samples("all", rows).answers.refusals, 0);
}

TEST(SampleFiguresTest, OnlySizesThatEveryTaskHas) {
  std::vector<SampleRow> rows = two_tasks();
  rows.pop_back();
  EXPECT_EQ(figures_of_samples("all", rows).sizes, (std::vector<int>{1, 2, 3}));
}

TEST(SampleFiguresTest, NothingAtAllIsNoFigure) {
  const SampleFigures none = figures_of_samples("all", {});
  EXPECT_EQ(none.tasks, 0);
  EXPECT_TRUE(none.pass.empty());
}

TEST(SampleFiguresTest, PoliciesOfAMixtureAreToldApart) {
  std::vector<SampleRow> rows = two_tasks();
  EXPECT_TRUE(sample_figures_by_policy(rows).empty());
  rows[1].policy = rows[5].policy = "search";
  const auto figures = sample_figures_by_policy(rows);
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[1].name, "search");
  EXPECT_EQ(figures[1].right, 1);
}

TEST(SampleRowTest, ComesBackFromJsonAsItWas) {
  SampleRow row = two_tasks().front();
  row.predicted = true;
  row.program = "//! graph\n";
  EXPECT_EQ(to_json(sample_row_from_json(json::parse(to_json(row).dump()))), to_json(row));
  row.device.clear();
  EXPECT_TRUE(to_json(row).at("predicted").is_null()) << "nobody has found out";
  EXPECT_THROW(sample_row_from_json(json::parse(R"({"name": 3})")), Error);
}

TEST(SampleRowTest, WhatHasNoVerdictIsTriedAgain) {
  for (const char* status : {"failed", "no_task", "not_answered", "judge_error", "unstable"})
    EXPECT_FALSE(sample_of("1_A", 0, status).is_final()) << status;
  for (const char* status : {"ok", "wrong_result", "refusal", "nothing_proposed"})
    EXPECT_TRUE(sample_of("1_A", 0, status).is_final()) << status;
}

TEST(SampleFiles, TheLastLineOfASampleCountsAndACutLineDoesNot) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "samples.jsonl";
  {
    LineLog log(file);
    log.append(to_json(sample_of("1_A", 0, "failed")).dump());
    log.append(to_json(sample_of("1_A", 0, "ok", 1.5)).dump());
  }
  write_file_atomically(file, read_file(file) + R"({"suite": "su)");
  EXPECT_EQ(read_samples({file}).size(), 1u);
  EXPECT_EQ(read_samples({file}).front().status, "ok");
  LineLog(file).append(to_json(sample_of("1_A", 1, "ok", 1.5)).dump());
  EXPECT_EQ(read_samples({file}).size(), 2u) << "what follows the cut line is whole";
  EXPECT_TRUE(read_samples({folder.path() / "none.jsonl"}).empty());
}

TEST(SampleFiles, DifferentDevicesAreNotMerged) {
  const TemporaryFolder folder;
  SampleRow other = sample_of("2_B", 0, "ok", 1.5);
  other.device = "another GPU";
  LineLog(folder.path() / "a").append(to_json(sample_of("1_A", 0, "ok", 1.5)).dump());
  LineLog(folder.path() / "b").append(to_json(other).dump());
  EXPECT_THROW(read_samples({folder.path() / "a", folder.path() / "b"}), Error);
}

TEST(SampleReport, HasTablesAndALineForEverySample) {
  const TemporaryFolder folder;
  std::vector<SampleRow> rows = two_tasks();
  rows[0].predicted = true;
  rows[3].error = "he said \"no\", twice";
  write_sample_report(rows, "8 samples", folder.path());
  const std::string report = read_file(folder.path() / "report.md"), table = read_file(folder.path() / "samples.csv");
  EXPECT_NE(report.find("| level 1 | 2 | 3 | 0.375 |"), std::string::npos) << report;
  EXPECT_NE(report.find("times of 1 samples are predicted"), std::string::npos) << report;
  EXPECT_NE(report.find("| plan_error | 2 |"), std::string::npos) << report;
  EXPECT_EQ(std::ranges::count(table, '\n'), 9);
  EXPECT_NE(table.find("\"he said \"\"no\"\", twice\""), std::string::npos) << table;
  const json figures = sample_summary_json(rows);
  EXPECT_EQ(figures.at(0).at("pass_at").at(1).at("k"), 2);
  EXPECT_EQ(figures.at(0).at("cost"), 2.0);
}

}  // namespace
}  // namespace cudal1
