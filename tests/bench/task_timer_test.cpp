#include "bench/task_timer.hpp"

#include <algorithm>

#include "base/result.hpp"
#include "worker_fixture.hpp"

namespace cudal1 {
namespace {

class TaskTimerTest : public WorkerTest {
 protected:
  PreparedWorker prepared(const std::string& body, const std::vector<std::string>& baselines) const {
    PreparedWorker made;
    made.worker = std::make_unique<ModuleWorker>(module("module", body), "cpu");
    make_ways(made, known_package({}), baselines);
    return made;
  }
};

TEST_F(TaskTimerTest, TimesEveryWayInEveryRound) {
  PreparedWorker made = prepared("return x + 1", {"eager", "cudnn-benchmark"});
  Random random(1);
  time_ways(made, {}, {.seconds = 0.0, .rounds_at_once = 10}, random);
  ASSERT_EQ(made.ways.size(), 2u);
  EXPECT_EQ(made.ways[0].device_ms.size(), 7u);  // the fewest, though there was no time for them
  EXPECT_EQ(made.ways[1].device_ms.size(), 7u);
  EXPECT_GT(std::ranges::min(made.ways[0].device_ms), 0.0);
  EXPECT_GT(made.ways[0].host_ms, 0.0);
}

TEST_F(TaskTimerTest, GoesOnUntilTheRatiosAreKnown) {
  PreparedWorker made = prepared("return x + 1", {"eager", "cudnn-benchmark"});
  Random random(1);
  TimingLimits limits{
      .seconds = 60.0, .half_width = 1e-9, .half_width_of_others = 1e-9, .rounds_at_once = 10, .most_rounds = 40};
  time_ways(made, {}, limits, random);
  EXPECT_EQ(made.ways[0].device_ms.size(), 40u);
  PreparedWorker coarse = prepared("return x + 1", {"eager", "cudnn-benchmark"});
  limits.half_width = limits.half_width_of_others = 1e9;
  time_ways(coarse, {}, limits, random);
  EXPECT_EQ(coarse.ways[0].device_ms.size(), 10u);
}

TEST_F(TaskTimerTest, ABaselineThatDoesNotApplyIsSaidAndLeftOut) {
  PreparedWorker made = prepared("return x + 1", {"eager", "channels-last"});
  EXPECT_TRUE(made.has("eager"));
  EXPECT_FALSE(made.has("channels-last"));
  Random random(1);
  time_ways(made, {}, {.seconds = 0.0}, random);
  EXPECT_NE(made.ways[1].why_not.find("four or five dimensions"), std::string::npos);
  EXPECT_TRUE(made.ways[1].device_ms.empty());
}

TEST_F(TaskTimerTest, ABaselineThatComputesSomethingElseIsLeftOut) {
  // With benchmarking this module gives other numbers.
  PreparedWorker made = prepared("return x + torch.backends.cudnn.benchmark", {"eager", "cudnn-benchmark"});
  EXPECT_TRUE(made.has("eager"));
  EXPECT_FALSE(made.has("cudnn-benchmark"));
  EXPECT_NE(made.ways[1].why_not.find("its results are not eager's: off by 1"), std::string::npos)
      << made.ways[1].why_not;
}

TEST_F(TaskTimerTest, SaysWhatDoesNotSettleAndMeasuresItAnew) {
  PreparedWorker made;
  made.worker = std::make_unique<ModuleWorker>(module("plus", "return x + 1"), "cpu");
  make_ways(made, known_package({}), {"eager"});
  Random random(1);
  const auto why_unsettled = [&](const std::vector<double>& ratios) {
    return time_ways(made, ratios, {.seconds = 0.0, .rounds_at_once = 7}, random);
  };
  EXPECT_EQ(why_unsettled({1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}).find("the timing against eager does not settle"), 0u);
  const std::vector<double> first = made.ways[1].device_ms;
  EXPECT_EQ(why_unsettled({2.0}), "");
  ASSERT_EQ(made.ways.size(), 2u) << "one program, one baseline";
  EXPECT_EQ(made.ways[1].device_ms.size(), 7u) << "eager's, of the last measurement alone";
  EXPECT_NE(made.ways[1].device_ms, first);
}

TEST(ProgramByRatiosTest, HasTheRatioToEagerThatWasMeasuredAndThroughItToTheOthers) {
  std::vector<WayTimes> ways{{"eager", {2.0, 4.0, 8.0}, 3.0, 0.0, {}}, {"compile", {1.0, 2.0, 4.0}, 2.0, 0.0, {}}};
  add_program_by_ratios(ways, {1.0, 2.0, 3.0, 4.0, 4.0, 4.0, 8.0, 8.0, 99.0});
  ASSERT_EQ(ways.size(), 3u);
  EXPECT_EQ(ways.front().way, program_way);
  EXPECT_EQ(ways.front().device_ms, (std::vector<double>{1.0, 1.0, 1.0}));
  std::vector<WayTimes> few{{"eager", {2.0, 4.0, 8.0, 8.0}, 3.0, 0.0, {}}};
  add_program_by_ratios(few, {2.0, 4.0});
  EXPECT_EQ(few.front().device_ms, (std::vector<double>{1.0, 2.0, 2.0, 2.0}));
  std::vector<WayTimes> none{{"compile", {1.0}, 2.0, 0.0, {}}};
  EXPECT_THROW(add_program_by_ratios(none, {1.0}), Error);
}

TEST_F(TaskTimerTest, AModuleThatCannotRunCannotBeMeasured) {
  EXPECT_THROW(prepared("raise ValueError('no')", {"eager"}), Error);
  EXPECT_THROW(prepared("os.abort()", {"eager"}), Error);
}

}  // namespace
}  // namespace cudal1
