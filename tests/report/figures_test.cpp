#include "report/figures.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "report/figures_table.hpp"
#include "report/speedups.hpp"
#include "sample_rows.hpp"

namespace cudal1 {
namespace {

TEST(QuantileTest, LiesBetweenValuesWhereNoneIsAtThatPlace) {
  EXPECT_DOUBLE_EQ(quantile({4.0, 1.0, 3.0, 2.0}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile({4.0, 1.0, 3.0, 2.0}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({1.0, 2.0, 3.0, 4.0, 5.0}, 0.75), 4.0);
  EXPECT_DOUBLE_EQ(quantile({7.0}, 0.25), 7.0);
}

TEST(FiguresTest, AreThoseOfTheSuccesses) {
  const std::vector<BenchRow> rows{sample_row("a", 0.5), sample_row("b", 2.0), sample_row("c", 4.0), failed_row("d")};
  const Figures figures = figures_of(rows, "eager");
  EXPECT_EQ(figures.tasks, 4);
  EXPECT_EQ(figures.successes, 3);
  EXPECT_NEAR(figures.mean, 6.5 / 3.0, 1e-12);
  EXPECT_NEAR(figures.geometric_mean, std::cbrt(4.0), 1e-12);
  EXPECT_DOUBLE_EQ(figures.lower_quartile, 1.25);
  EXPECT_DOUBLE_EQ(figures.median, 2.0);
  EXPECT_DOUBLE_EQ(figures.upper_quartile, 3.0);
  EXPECT_DOUBLE_EQ(figures.maximum, 4.0);
  EXPECT_EQ(figures.faster, 2);
  EXPECT_DOUBLE_EQ(figures.faster_share(), 0.5);
}

TEST(FiguresTest, ATieIsNotFaster) {
  EXPECT_EQ(figures_of({sample_row("a", 1.01), sample_row("b", 1.0)}, "eager").faster, 0);
  EXPECT_EQ(figures_of({sample_row("a", 1.02)}, "eager").faster, 1);
}

TEST(FiguresTest, DegenerateTasksAreLeftOut) {
  BenchRow degenerate = sample_row("a", 100.0);
  degenerate.degenerate = true;
  const Figures figures = figures_of({degenerate, sample_row("b", 2.0)}, "eager");
  EXPECT_EQ(figures.tasks, 1);
  EXPECT_DOUBLE_EQ(figures.maximum, 2.0);
  EXPECT_EQ(groups_by_level({degenerate, sample_row("b", 2.0)}).front().rows.size(), 1u);
}

TEST(FiguresTest, OfNothingAreNothing) {
  EXPECT_EQ(figures_of({}, "eager").successes, 0);
  EXPECT_EQ(figures_of({failed_row("a")}, "eager").mean, 0.0);
  EXPECT_EQ(fast_p({}, "eager", 1.0), 0.0);
}

TEST(FastPTest, CountsTasksThatAreCorrectAndFasterThanP) {
  const std::vector<BenchRow> rows{sample_row("a", 0.6), sample_row("b", 1.0), sample_row("c", 1.6), failed_row("d")};
  EXPECT_DOUBLE_EQ(fast_p(rows, "eager", 0.0), 0.75);
  EXPECT_DOUBLE_EQ(fast_p(rows, "eager", 0.5), 0.75);
  EXPECT_DOUBLE_EQ(fast_p(rows, "eager", 0.8), 0.5);
  EXPECT_DOUBLE_EQ(fast_p(rows, "eager", 1.0), 0.25);  // equally fast is not faster
  EXPECT_DOUBLE_EQ(fast_p(rows, "eager", 2.0), 0.0);
}

TEST(SpeedupTest, TheFastestBaselineCounts) {
  BenchRow row = sample_row("a", 3.0);
  row.ways.push_back({"compile", std::vector<double>(21, 1.5), 1.5, 9.0, {}});
  row.ways.push_back({"cuda-graph", {}, 0.0, 0.0, "it synchronises"});
  EXPECT_EQ(best_baseline(row.ways), "compile");
  EXPECT_DOUBLE_EQ(speedup_of(row, best_of_all)->speedup, 1.5);
  EXPECT_DOUBLE_EQ(speedup_of(row, "eager")->speedup, 3.0);
  EXPECT_FALSE(speedup_of(row, "cuda-graph"));
}

TEST(SpeedupTest, RatiosArePairedByRound) {
  BenchRow row = sample_row("a", 1.0);
  for (std::size_t i = 0; i < 21; ++i) {  // the machine slows down; the ratio stays
    row.ways[0].device_ms[i] = 1.0 + 0.1 * static_cast<double>(i);
    row.ways[1].device_ms[i] = 2.0 * row.ways[0].device_ms[i];
  }
  EXPECT_NEAR(speedup_of(row, "eager")->speedup, 2.0, 1e-12);
  EXPECT_NEAR(speedup_of(row, "eager")->high, 2.0, 1e-12);
}

TEST(SpeedupTest, TheCautiousIntervalIsTheWiderOne) {
  BenchRow row = sample_row("a", 1.0, 1, 1, 210);
  for (std::size_t i = 0; i < 210; ++i) row.ways[1].device_ms[i] = 1.0 + 0.01 * static_cast<double>((i * 37) % 10);
  const auto usual = speedup_of(row, "eager");
  const auto cautious = cautious_interval(row, "eager");
  ASSERT_TRUE(usual && cautious);
  EXPECT_LT(cautious->low, usual->low);
  EXPECT_GT(cautious->high, usual->high);
  EXPECT_GT(cautious->low, 0.99);
}

TEST(SpeedupTest, TimesThatDoNotSettleSayNone) {
  BenchRow row = sample_row("a", 2.0, 1, 1, 70);
  row.ways.push_back({"compile", std::vector<double>(70, 1.5), 1.5, 9.0, {}});
  EXPECT_EQ(why_unstable(row.ways), "");
  for (std::size_t i = 0; i < 70; i += 3) row.ways[1].device_ms[i] = 99.0;
  EXPECT_EQ(why_unstable(row.ways), "") << "spikes that a median leaves out";
  for (std::size_t i = 0; i < 70; ++i) row.ways[1].device_ms[i] = i < 35 ? 2.0 : 2.6;
  EXPECT_EQ(why_unstable(row.ways).find("the timing against eager does not settle: variance between buckets 0.0"), 0u)
      << why_unstable(row.ways);
  std::swap(row.ways[1].way, row.ways[2].way);
  EXPECT_EQ(why_unstable(row.ways), "") << "neither eager nor the best";
  for (double& ms : row.ways[1].device_ms) ms *= 0.5;
  EXPECT_EQ(why_unstable(row.ways).find("the timing against compile does not settle"), 0u) << why_unstable(row.ways);
  EXPECT_EQ(why_unstable({row.ways[1], row.ways[2]}), "") << "no program";
}

TEST(SpeedupTest, AWrongProgramHasNone) {
  BenchRow row = sample_row("a", 9.0);
  row.status = "wrong_result";
  EXPECT_FALSE(speedup_of(row, "eager"));
  EXPECT_FALSE(cautious_interval(row, best_of_all));
}

TEST(GroupsTest, ProgramsWithOwnKernelsStandApart) {
  BenchRow own = sample_row("a", 2.0);
  own.own_kernels = true;
  const auto groups = groups_by_kind_of_program({own, sample_row("b", 1.0), failed_row("c")});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].rows.size(), 1u);
  EXPECT_EQ(groups[1].rows.size(), 1u);
}

TEST(GroupsTest, SeveralLevelsAreAlsoShownTogether) {
  const auto groups = groups_by_level({sample_row("a", 1.0, 1), sample_row("b", 1.0, 2)});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[2].name, "all");
  EXPECT_EQ(groups_by_level({sample_row("a", 1.0, 1)}).size(), 1u);
}

TEST(TableTest, NumbersStandToTheRightAndBarsStayInTheirCell) {
  const TextTable table{{{"name", "ms"}, {"a|b", "10"}, {"c", "5"}}, 1};
  EXPECT_EQ(table.plain(), "name  ms\na|b   10\nc      5\n");
  EXPECT_EQ(table.markdown(), "| name | ms |\n|---|---:|\n| a\\|b | 10 |\n| c | 5 |\n");
}

TEST(TableTest, WhereThereIsNothingThereIsADash) {
  BenchRow degenerate = sample_row("a", 2.0);
  degenerate.degenerate = true;
  EXPECT_EQ(figures_table({degenerate}).rows[1],
            (std::vector<std::string>{"all", "eager", "0", "0", "-", "-", "-", "-", "-", "-", "-"}));
  EXPECT_EQ(fast_p_table({degenerate}).rows[1],
            (std::vector<std::string>{"all", "eager", "-", "-", "-", "-", "-", "-"}));
}

TEST(RemarksTest, SayWhatTheTablesLeaveOut) {
  BenchRow predicted = sample_row("a", 1.0);
  predicted.predicted = true;
  predicted.ways.push_back({"compile", {}, 0.0, 0.0, "not predicted: no model of it"});
  BenchRow wrong = failed_row("b");
  wrong.predicted = true;  // would have been: it has no times
  const auto lines = remarks({predicted, wrong});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "times of 1 tasks are predicted by a model, not measured");
  EXPECT_EQ(lines[1], "1 tasks: wrong_result");
  EXPECT_NE(lines[2].find("compile: not predicted"), std::string::npos);
}

}  // namespace
}  // namespace cudal1
