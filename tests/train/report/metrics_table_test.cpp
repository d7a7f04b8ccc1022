#include "train/report/metrics_table.hpp"

#include <gtest/gtest.h>

#include "error_of.hpp"

namespace cudal1 {
namespace {

constexpr const char* text =
    "stage,step,loss,reward\n"
    "supervised,0,3.5,\n"
    "supervised,1,nan,\n"
    "contrastive,0,0.1,-0.5\n"
    "contrastive,1,0.2,0.25\n"
    "contrastive,2,0.3\n"
    "contra";

TEST(MetricsTable, CurvesAreOfOneStageAndBeginWithStepOne) {
  const MetricsTable table = MetricsTable::parse(text, "metrics.csv");
  const std::vector<ChartPoint> reward = table.curve("contrastive", "reward");
  ASSERT_EQ(reward.size(), 2u) << "the third was cut short";
  EXPECT_EQ(reward[0].x, 1.0);
  EXPECT_EQ(reward[1].y, 0.25);
  EXPECT_EQ(table.curve("supervised", "loss").size(), 1u) << "a loss that is no number is left out";
  EXPECT_TRUE(table.curve("contrastive", "entropy").empty());
  EXPECT_EQ(table.steps("contrastive"), 3u);
  EXPECT_NEAR(table.sum("contrastive", "loss"), 0.6, 1e-12);
}

TEST(MetricsTable, AnotherKindOfFileIsRefusedAndNoneIsAnEmptyTable) {
  EXPECT_EQ(error_of([] { MetricsTable::parse("a,b\n1,2\n", "some.csv"); }), "some.csv: is no table of a run's metrics");
  EXPECT_EQ(MetricsTable::read("/nowhere/metrics.csv").steps("contrastive"), 0u);
}

}  // namespace
}  // namespace cudal1
