// Each step has one row, whatever was killed and resumed in between.
#include "train/run/metrics_log.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/files.hpp"
#include "error_of.hpp"

namespace cudal1 {
namespace {

class MetricsLogTest : public testing::Test {
 protected:
  std::string text() const { return read_file(file_); }
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "metrics.csv";
};

TEST_F(MetricsLogTest, RowsAreThereAtOnceAndNewNamesBecomeColumns) {
  MetricsLog log(file_, {});
  log.add({"supervised", 1}, {{"loss", 2.5}});
  EXPECT_EQ(text(), "stage,step,loss\nsupervised,1,2.5\n");
  log.add({"contrastive", 1}, {{"reward", 0.25}, {"loss", -1e-9}});
  log.add({"contrastive", 2}, {{"reward", std::nan("")}});
  EXPECT_EQ(text(), "stage,step,loss,reward\nsupervised,1,2.5,\ncontrastive,1,-1e-09,0.25\ncontrastive,2,,nan\n");
  EXPECT_NE(error_of([&] { log.add({"contrastive", 3}, {{"a,b", 1.0}}); }), "");
}

TEST_F(MetricsLogTest, ResumingDropsWhatCameAfterTheCheckpoint) {
  {
    MetricsLog log(file_, {});
    for (const std::int64_t step : {0, 1, 2}) log.add({"supervised", step}, {{"loss", 1.0}});
    for (const std::int64_t step : {0, 1}) log.add({"contrastive", step}, {{"loss", 2.0}, {"reward", 0.5}});
  }
  const std::string whole = text();
  MetricsLog(file_, CheckpointName{"contrastive", 2});
  EXPECT_EQ(text(), whole) << "a checkpoint of two steps has steps 0 and 1";
  MetricsLog(file_, CheckpointName{"contrastive", 1});
  EXPECT_EQ(text(), "stage,step,loss,reward\nsupervised,0,1,\nsupervised,1,1,\nsupervised,2,1,\ncontrastive,0,2,0.5\n");
  MetricsLog(file_, CheckpointName{"self_supervised", 0});
  EXPECT_NE(text().find("contrastive,0"), std::string::npos) << "of a stage without rows nothing is known";
  MetricsLog(file_, CheckpointName{"supervised", 3});
  EXPECT_EQ(text(), "stage,step,loss,reward\nsupervised,0,1,\nsupervised,1,1,\nsupervised,2,1,\n") << "a later stage";
  MetricsLog log(file_, CheckpointName{"supervised", 2});
  log.add({"supervised", 2}, {{"loss", 9.0}});
  EXPECT_EQ(text(), "stage,step,loss,reward\nsupervised,0,1,\nsupervised,1,1,\nsupervised,2,9,\n");
  MetricsLog(file_, {});
  EXPECT_EQ(text(), "stage,step\n") << "from the beginning";
}

TEST_F(MetricsLogTest, ALineThatAKillCutShortIsDropped) {
  std::ofstream(file_) << "stage,step,loss\nsupervised,1,1\nsuper";
  MetricsLog(file_, CheckpointName{"supervised", 9});
  EXPECT_EQ(text(), "stage,step,loss\nsupervised,1,1\n");
}

TEST_F(MetricsLogTest, AnotherTableIsNotOverwritten) {
  std::ofstream(file_) << "name,price\n";
  EXPECT_EQ(error_of([&] {
              MetricsLog(file_, CheckpointName{"supervised", 9});
            }),
            file_.string() + ": is no table of metrics; move it away");
  EXPECT_EQ(text(), "name,price\n");
}

}  // namespace
}  // namespace cudal1
