#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"
#include "report/bench_report.hpp"
#include "report/figures.hpp"
#include "report/kernelbench_files.hpp"
#include "report/speedup_plot.hpp"
#include "sample_rows.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

TEST(BenchRowTest, ComesBackFromJsonAsItWas) {
  BenchRow row = sample_row("19_ReLU", 1.25, 2, 19, 7);
  row.own_kernels = row.degenerate = true;
  row.key = "abc";
  row.ways.push_back({"compile", {}, 0.0, 0.0, "it fails"});
  const BenchRow back = bench_row_from_json(json::parse(to_json(row).dump()));
  EXPECT_EQ(to_json(back), to_json(row));
  EXPECT_EQ(back.ways[2].why_not, "it fails");
  EXPECT_EQ(back.ways[1].device_ms.size(), 7u);
  EXPECT_THROW(bench_row_from_json(json::parse(R"({"name": 3})")), Error);
}

TEST(BenchRowTest, WhatNobodyHasFoundOutIsNull) {
  BenchRow row = failed_row("1_A", "no_task");
  row.device.clear();
  const json said = to_json(row);
  for (const char* field : {"device", "predicted", "own_kernels", "degenerate"})
    EXPECT_TRUE(said.at(field).is_null()) << field;
  EXPECT_EQ(to_json(bench_row_from_json(said)), said);
  EXPECT_NE(results_csv({row}).find(",no_task,,,,,0,"), std::string::npos) << results_csv({row});
  const json metadata = eval_results({row}).at("1").at(0).at("metadata");
  EXPECT_FALSE(metadata.contains("hardware") || metadata.contains("predicted")) << metadata;
}

TEST(SummaryTest, FiguresOfNoSuccessAreNull) {
  const json group = summary_json({failed_row("1_A")}).at(0).at("against").at("best");
  EXPECT_EQ(group.at("tasks"), 1);
  EXPECT_EQ(group.at("successes"), 0);
  for (const char* field : {"mean", "geometric_mean", "lower_quartile", "median", "upper_quartile", "maximum"})
    EXPECT_TRUE(group.at(field).is_null()) << field;
  EXPECT_EQ(group.at("faster_share"), 0.0) << "none of one";
  EXPECT_EQ(group.at("fast_p").at("1"), 0.0);
  const json nobody = summary_json({failed_row("1_A")}).at(1).at("against").at("best");  // own kernels
  EXPECT_TRUE(nobody.at("faster_share").is_null() && nobody.at("fast_p").at("1").is_null()) << nobody;
  const json known = summary_json({sample_row("1_A", 2.0)}).at(0).at("against").at("eager");
  EXPECT_EQ(known.at("geometric_mean"), 2.0);
}

TEST(EvalResultsTest, HaveKernelBenchsFields) {
  BenchRow second = failed_row("2_B", "compile_error");
  second.id = 2;
  const json results = eval_results({sample_row("1_A", 2.0, 1, 1), second});
  const json& good = results.at("1").at(0);
  EXPECT_EQ(good.at("sample_id"), 0);
  EXPECT_TRUE(good.at("compiled").get<bool>());
  EXPECT_TRUE(good.at("correctness").get<bool>());
  EXPECT_DOUBLE_EQ(good.at("runtime").get<double>(), 1.0);
  EXPECT_EQ(good.at("runtime_stats").at("num_trials"), 21);
  const json& bad = results.at("2").at(0);
  EXPECT_FALSE(bad.at("compiled").get<bool>());
  EXPECT_FALSE(bad.at("correctness").get<bool>());
  EXPECT_DOUBLE_EQ(bad.at("runtime").get<double>(), -1.0);
}

TEST(EvalResultsTest, AProgramWhoseTimesDoNotSettleIsRightAndHasNoTime) {
  BenchRow row = sample_row("1_A", 2.0);
  row.status = "unstable";
  const json result = eval_results({row}).at("1").at(0);
  EXPECT_TRUE(result.at("correctness").get<bool>());
  EXPECT_DOUBLE_EQ(result.at("runtime").get<double>(), -1.0);
  EXPECT_EQ(figures_of({row}, "eager").successes, 0);
}

TEST(CsvTest, QuotesWhatWouldBreakALine) {
  BenchRow row = failed_row("a, b");
  row.error = "said \"no\"";
  const std::string text = results_csv({row});
  EXPECT_NE(text.find(",\"a, b\","), std::string::npos);
  EXPECT_NE(text.find("\"said \"\"no\"\"\"\n"), std::string::npos);
}

TEST(CsvTest, EveryLineHasTheHeadingsColumns) {
  const std::string text = results_csv({sample_row("a", 2.0), failed_row("b")});
  std::vector<long> columns;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1)
    columns.push_back(std::count(text.begin() + static_cast<long>(begin),
                                 text.begin() + static_cast<long>(text.find('\n', begin)), ','));
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns[0], columns[1]);
  EXPECT_EQ(columns[0], columns[2]);
}

TEST(PlotTest, ShowsEveryTaskAndEscapesNames) {
  const std::string picture = speedup_plot({sample_row("a<b", 2.0), sample_row("c", 0.5)}, "eager", "R&D");
  EXPECT_NE(picture.find("a&lt;b"), std::string::npos);
  EXPECT_NE(picture.find("R&amp;D"), std::string::npos);
  EXPECT_NE(picture.find("2 tasks, sorted"), std::string::npos);
  EXPECT_NE(picture.find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_LT(picture.find("/c: 0.500x"), picture.find("/a&lt;b: 2.000x"));  // sorted
  EXPECT_TRUE(speedup_plot({failed_row("a")}, "eager", "nothing").empty());
}

TEST(ReportTest, LevelsGetTheirOwnEvalResults) {
  const TemporaryFolder folder;
  write_bench_report({sample_row("1_A", 2.0, 1), sample_row("1_B", 1.0, 2), failed_row("1_C")}, "a title",
                     folder.path());
  for (const char* name : {"results.csv", "report.md", "speedups_all.svg", "speedups_level_1.svg",
                           "level1/eval_results.json", "level2/eval_results.json", "timing/eager.json"})
    EXPECT_TRUE(fs::exists(folder.path() / name)) << name;
  const std::string report = read_file(folder.path() / "report.md");
  EXPECT_TRUE(report.starts_with("# a title\n"));
  EXPECT_NE(report.find("| level 1 | best | 2 | 1 |"), std::string::npos);
  EXPECT_NE(report.find("`level1/1_C`: wrong_result: `the first element differs`"), std::string::npos);
}

TEST(ReportTest, PredictedTimesAreNoTimingFiles) {
  const TemporaryFolder folder;
  BenchRow row = sample_row("1_A", 2.0, 1);
  row.predicted = true;
  write_bench_report({row}, "a title", folder.path());
  EXPECT_FALSE(fs::exists(folder.path() / "timing"));
}

TEST(ReportTest, WhereNothingSucceededTheFiguresSaySo) {
  const TemporaryFolder folder;
  BenchRow row = failed_row("1_A");
  row.ways.clear();
  write_bench_report({row}, "a title", folder.path());
  const std::string report = read_file(folder.path() / "report.md");
  EXPECT_NE(report.find("| level 1 | best | 1 | 0 | - |"), std::string::npos) << report;
  EXPECT_NE(report.find("| level 1 | best | 0.000 |"), std::string::npos) << report;
}

TEST(ReportTest, OneLevelLiesBesideTheRest) {
  const TemporaryFolder folder;
  write_bench_report({sample_row("1_A", 2.0, 1)}, "a title", folder.path());
  EXPECT_TRUE(fs::exists(folder.path() / "eval_results.json"));
}

}  // namespace
}  // namespace cudal1
