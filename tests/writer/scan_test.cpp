// `fuse` of cumulative sums and products.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;

class Scan : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TaskText cumsum_of(const std::vector<std::int64_t>& shape, int dim, const json& more = {}) {
  TaskText task;
  task.input("x", shape, more).node("mul_1", "aten::mul.Tensor", {"x", 0.5});
  task.node("cumsum_1", "aten::cumsum", {"mul_1", dim}).node("add_1", "aten::add.Tensor", {"cumsum_1", "x"});
  task.output("add_1");
  return task;
}

constexpr const char* fuse_cumsum = "//! fuse mul_1 cumsum_1 add_1";

TEST_F(Scan, FusesWhatComesBeforeAndAfter) {
  const Verdict verdict = judged(cumsum_of({5, 33}, 1), std::string(fuse_cumsum) + "\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
  EXPECT_EQ(verdict.steps.size(), 1u);
  EXPECT_EQ(verdict.techniques, std::vector<std::string>{"scan"});
}

TEST_F(Scan, IsRightForOddSizes) {
  for (const auto& [rows, columns] :
       {std::pair{1, 1}, {7, 1}, {1, 31}, {13, 37}, {3, 1032}, {40, 5}, {2, 3001}, {0, 4}, {4, 0}})
    EXPECT_RIGHT(cumsum_of({rows, columns}, 1), std::string(fuse_cumsum) + "\n");
}

TEST_F(Scan, EveryParameterValueIsRight) {
  for (const char* parameters :
       {"lanes=32 vector=1", "lanes=64 vector=2", "lanes=128 split=2", "lanes=256", "lanes=512 vector=4 split=1",
        "lanes=1024", "lanes=32 split=4 threads=along", "lanes=64 split=32 vector=1", "threads=across lanes=1",
        "threads=across lanes=2", "threads=across lanes=32", "threads=across lanes=8"})
    EXPECT_RIGHT(cumsum_of({5, 132}, 1), fmt::format("{} : {}\n", fuse_cumsum, parameters));
}

TEST_F(Scan, ScansAnyDimension) {
  for (const int dim : {0, 1, -1}) EXPECT_RIGHT(cumsum_of({5, 6, 33}, dim), std::string(fuse_cumsum) + "\n");
  EXPECT_RIGHT(cumsum_of({6, 9}, 1, {{"strides", {1, 6}}}), std::string(fuse_cumsum) + "\n");
  EXPECT_RIGHT(cumsum_of({6, 8}, 1, {{"strides", {20, 2}}}), std::string(fuse_cumsum) + "\n");
  EXPECT_RIGHT(cumsum_of({4, 24}, 1, {{"dtype", "f16"}}), std::string(fuse_cumsum) + "\n");
}

TEST_F(Scan, OtherOperationsAndTypesArePyTorchs) {
  TaskText task;
  task.input("x", {4, 40}).input("p", {4, 40}, {{"draw", {{"kind", "uniform"}, {"low", 0.8}, {"high", 1.2}}}});
  task.input("i", {4, 40}, {{"dtype", "i32"}, {"draw", {{"kind", "integers"}, {"low", -9}, {"high", 9}}}});
  task.input("m", {4, 40}, {{"dtype", "bool"}, {"draw", {{"kind", "bernoulli"}, {"p", 0.5}}}});
  task.node("n1", "aten::cumprod", {"p", 1}).node("n2", "aten::cumsum", {"i", 1}).node("n3", "aten::cumsum", {"m", 0});
  task.node("n4", "aten::logcumsumexp", {"x", 1}).node("n5", "aten::cumsum", {"x", 1});
  task.node("n6", "aten::cumsum", {"n5", 1}).node("n7", "aten::mul.Tensor", {"x", "m"});
  task.node("n8", "aten::cumsum", {"n7", 1});
  for (const char* name : {"n1", "n2", "n3", "n4", "n6", "n8"}) task.output(name);
  EXPECT_RIGHT(task, "//! fuse n1\n//! fuse n2\n//! fuse n3\n//! fuse n4\n//! fuse n5 n6\n//! fuse n7 n8\n");
  EXPECT_RIGHT(task,
               "//! fuse n4 : split=2\n//! fuse n5 n6 : threads=across\n//! fuse n7 n8 : threads=across lanes=4\n");
}

TEST_F(Scan, GoesBackwardsBetweenFlips) {
  for (const int dim : {0, 1}) {
    TaskText task;
    task.input("x", {6, 36}).node("flip_1", "aten::flip", {"x", {dim}});
    task.node("cumsum_1", "aten::cumsum", {"flip_1", dim});
    task.node("flip_2", "aten::flip", {"cumsum_1", {dim}}).output("flip_2");
    for (const char* parameters : {"", " : vector=1", " : threads=across lanes=2"})
      EXPECT_RIGHT(task, fmt::format("//! fuse flip_1 cumsum_1 flip_2{}\n", parameters));
  }
}

TEST_F(Scan, StartsBehindZerosThatAreAppended) {
  TaskText task;
  task.input("x", {5, 12}).node("select_1", "aten::select.int", {"x", 1, 0});
  task.node("unsqueeze_1", "aten::unsqueeze", {"select_1", 1});
  task.node("zeros_1", "aten::zeros_like", {"unsqueeze_1"});
  task.node("cat_1", "aten::cat", {json::array({"zeros_1", "x"}), 1});
  task.node("cumsum_1", "aten::cumsum", {"cat_1", 1}).output("cumsum_1");
  EXPECT_RIGHT(task, "//! fuse zeros_1 cat_1 cumsum_1\n");
}

TEST_F(Scan, OverflowsAsTheResultsTypeDoes) {
  TaskText task;
  const json large = {{"dtype", "i32"}, {"draw", {{"kind", "integers"}, {"low", 100000000}, {"high", 1000000000}}}};
  task.input("x", {4, 33}, large);
  task.node("cumsum_1", "aten::cumsum", {"x", 1}, {{"kwargs", {{"dtype", {{"dtype", "i32"}}}}}});
  task.node("to_1", "aten::to.dtype", {"cumsum_1", {{"dtype", "f32"}}}).output("to_1");
  EXPECT_RIGHT(task, "//! fuse cumsum_1 to_1\n");
}

TEST_F(Scan, FewLongRowsAreSplit) {
  TaskText task;
  task.input("x", {2, 40000}).node("cumsum_1", "aten::cumsum", {"x", 1}).output("cumsum_1");
  const Verdict verdict = judged(task, "//! fuse cumsum_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps.size(), 2u);
}

TEST_F(Scan, IndexesBeyond32Bits) {
  TaskText task;
  task.input("x", {4, 1431655764}).node("cumsum_1", "aten::cumsum", {"x", 1}).output("cumsum_1");
  const Verdict verdict = planned(task, "//! fuse cumsum_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_NE(verdict.code.find("unsigned long long k = "), std::string::npos) << verdict.code;
}

TEST_F(Scan, RefusesWhatItCannotWrite) {
  TaskText task;
  task.input("x", {6, 6}).node("cumsum_1", "aten::cumsum", {"x", 0}).node("cumsum_2", "aten::cumsum", {"cumsum_1", 1});
  task.node("select_1", "aten::select.int", {"cumsum_2", 1, 5}).node("neg_1", "aten::neg", {"select_1"});
  task.output("neg_1");
  EXPECT_REFUSED(task, "//! fuse cumsum_1 cumsum_2\n", "different indices");
  EXPECT_REFUSED(task, "//! fuse cumsum_2 neg_1\n", "another order");
  EXPECT_REFUSED(cumsum_of({4, 6}, 1), "//! fuse mul_1 cumsum_1 add_1 : lanes=8 threads=along\n", "lanes=8");
  EXPECT_REFUSED(cumsum_of({4, 6}, 1), "//! fuse mul_1 cumsum_1 add_1 : lanes=64 threads=across\n", "lanes=64");
  EXPECT_REFUSED(cumsum_of({4, 6}, 1), "//! fuse mul_1 cumsum_1 add_1 : split=64\n", "split=64");
  EXPECT_REFUSED(cumsum_of({4, 6}, 1), "//! fuse mul_1 cumsum_1 add_1 : vector=4\n", "vector=4 does not divide");
  EXPECT_REFUSED(cumsum_of({8, 6}, 0), "//! fuse mul_1 cumsum_1 add_1 : threads=along vector=8\n", "side by side in");
}

}  // namespace
}  // namespace cudal1::testing
