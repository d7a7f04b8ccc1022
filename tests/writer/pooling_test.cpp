// `fuse` of pooling with what comes before and after it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;

class Pooling : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

//! relu, pooling with these arguments behind the tensor, times 2.
TaskText pooled(const std::string& op, const std::vector<std::int64_t>& shape, const json& arguments,
                const json& more = {}) {
  TaskText task;
  json all = {"relu_1"};
  for (const json& argument : arguments) all.push_back(argument);
  task.input("x", shape, more).node("relu_1", "aten::relu", {"x"}).node("pool_1", "aten::" + op, all);
  task.node("mul_1", "aten::mul.Tensor", {"pool_1", 2.0}).output("mul_1");
  return task;
}

constexpr const char* fuse_all = "//! fuse relu_1 pool_1 mul_1";

std::string with(const std::string& parameters) { return fmt::format("{} : {}\n", fuse_all, parameters); }

//! [N, C, H, W] with channels innermost.
json channels_last(std::int64_t c, std::int64_t h, std::int64_t w) { return {{"strides", {h * w * c, 1, w * c, c}}}; }

TEST_F(Pooling, MakesOneLaunchWithItsNeighbours) {
  const Verdict verdict = judged(pooled("max_pool2d", {2, 3, 9, 11}, {{3, 3}, {2, 2}}), with("items=1"));
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps, std::vector<std::string>{"launch fuse_mul_1"});
  EXPECT_EQ(verdict.techniques, std::vector<std::string>{"pooling"});
}

TEST_F(Pooling, IsRightForWindowsLargerAndSmallerThanTheirSteps) {
  for (const char* op : {"max_pool2d", "avg_pool2d"})
    for (const json& arguments : {json{{3, 2}, {1, 1}}, json{{2, 2}}, json{{1, 2}, {3, 3}}, json{{5, 7}, {2, 1}}})
      EXPECT_RIGHT(pooled(op, {2, 3, 9, 11}, arguments), fuse_all);
}

TEST_F(Pooling, IsRightInOneAndThreeDimensions) {
  EXPECT_RIGHT(pooled("max_pool1d", {2, 3, 31}, {{4}, {3}, {2}, {1}, true}), fuse_all);
  EXPECT_RIGHT(pooled("avg_pool1d", {2, 3, 31}, {{4}, {3}, {1}, true, false}), fuse_all);
  EXPECT_RIGHT(pooled("max_pool3d", {1, 2, 7, 6, 5}, {{3, 2, 2}, {2, 1, 2}, {1, 1, 0}}), with("items=2 along=z"));
  EXPECT_RIGHT(pooled("avg_pool3d", {1, 2, 7, 6, 5}, {{3, 3, 3}, {1, 2, 1}, {1, 0, 1}}), with("items=2 along=y"));
}

TEST_F(Pooling, LeavesOutWhatLiesBeyondTheEnds) {
  EXPECT_RIGHT(pooled("max_pool2d", {2, 3, 9, 11}, {{3, 3}, {2, 2}, {1, 1}, {2, 1}, true}), fuse_all);
  EXPECT_RIGHT(pooled("max_pool2d", {2, 3, 10, 9}, {{4, 3}, {3, 2}, {2, 0}, {1, 2}, true}), fuse_all);
  for (const bool count_padding : {false, true})
    for (const bool ceil : {false, true})
      EXPECT_RIGHT(pooled("avg_pool2d", {2, 3, 10, 11}, {{3, 4}, {2, 3}, {1, 2}, ceil, count_padding}), fuse_all);
  EXPECT_RIGHT(pooled("avg_pool2d", {2, 3, 9, 11}, {{3, 4}, {2, 3}, {1, 2}, true, true, 5}), fuse_all);
}

TEST_F(Pooling, IsRightForEveryParameter) {
  const TaskText task = pooled("max_pool2d", {2, 2, 11, 13}, {{3, 3}, {1, 1}, {1, 1}});
  for (const char* items : {"1", "2", "4", "8"})
    for (const char* along : {"auto", "x", "y"})
      EXPECT_RIGHT(task, with(fmt::format("items={} along={}", items, along)));
  for (const char* block : {"64", "128", "256", "512", "1024"})
    EXPECT_RIGHT(task, with(fmt::format("block={}", block)));
  EXPECT_RIGHT(pooled("avg_pool2d", {2, 2, 11, 13}, {{3, 5}, {2, 2}, {1, 1}, true, false}), with("items=4 along=x"));
}

TEST_F(Pooling, LoadsSeveralChannelsAtOnceWhereTheyAreInnermost) {
  for (const char* vector : {"1", "2", "4", "auto"})
    for (const char* items : {"1", "2"})
      EXPECT_RIGHT(pooled("max_pool2d", {2, 8, 7, 9}, {{3, 3}, {2, 1}, {1, 1}}, channels_last(8, 7, 9)),
                   with(fmt::format("vector={} items={}", vector, items)));
  EXPECT_RIGHT(pooled("avg_pool2d", {2, 7, 5, 9}, {{3, 3}, {2, 1}, {1, 1}}, channels_last(7, 5, 9)), fuse_all);
}

TEST_F(Pooling, LoadsSeveralElementsOfAWindowAtOnce) {
  for (const char* op : {"max_pool2d", "avg_pool2d"}) {
    const Verdict verdict = judged(pooled(op, {2, 3, 7, 16}, {{3, 4}, {2, 4}, {1, 0}}), with("vector=4"));
    EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
    EXPECT_NE(verdict.code.find("load<4>"), std::string::npos) << verdict.code;
  }
  for (const char* vector : {"auto", "1", "2", "4", "8"})
    EXPECT_RIGHT(pooled("avg_pool1d", {3, 2, 48}, {{8}}, {{"dtype", "f16"}}), with(fmt::format("vector={}", vector)));
  TaskText places = pooled("max_pool2d_with_indices", {2, 3, 9, 8}, {{3, 2}, {3, 2}});
  EXPECT_RIGHT(places.output("pool_1[1]"), with("vector=2"));
  EXPECT_RIGHT(pooled("max_pool2d", {2, 3, 8, 9}, {{2, 2}}), fuse_all);  // rows begin at odd places
}

TEST_F(Pooling, IsRightInHalfPrecision) {
  for (const char* dtype : {"f16", "bf16"})
    for (const char* op : {"max_pool2d", "avg_pool2d"})
      EXPECT_RIGHT(pooled(op, {2, 3, 9, 11}, {{3, 3}, {2, 2}, {1, 1}}, {{"dtype", dtype}}), with("items=2"));
}

TEST_F(Pooling, GivesPlacesOfMaxima) {
  for (const char* program : {"//! fuse relu_1 pool_1 mul_1", "//! fuse relu_1 pool_1 mul_1 : items=4"}) {
    TaskText task = pooled("max_pool2d_with_indices", {2, 3, 9, 11}, {{3, 3}, {2, 1}, {1, 1}, {1, 2}, true});
    task.output("pool_1[1]");  // of many zeros behind relu the first
    EXPECT_RIGHT(task, program);
  }
  TaskText small = pooled("max_pool3d_with_indices", {1, 2, 5, 4, 7}, {{2, 2, 3}, {1, 2, 2}, {0, 1, 1}});
  small.output("pool_1[1]");
  EXPECT_RIGHT(small, fuse_all);
}

TEST_F(Pooling, LooksForPlacesOnlyWhereSomebodyReadsThem) {
  const Verdict verdict = planned(pooled("max_pool2d_with_indices", {2, 3, 9, 11}, {{3, 3}}), fuse_all);
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.code.find("PoolMax"), std::string::npos);
}

TEST_F(Pooling, IsRightForAdaptiveWindows) {
  for (const json& sizes : {json{3, 2}, json{4, 5}, json{9, 1}, json{12, 13}}) {
    EXPECT_RIGHT(pooled("adaptive_avg_pool2d", {2, 3, 9, 10}, json::array({sizes})), fuse_all);
    TaskText task = pooled("adaptive_max_pool2d", {2, 3, 9, 10}, json::array({sizes}));
    task.output("pool_1[1]");
    EXPECT_RIGHT(task, fuse_all);
  }
  EXPECT_RIGHT(pooled("adaptive_avg_pool1d", {2, 3, 17}, json::array({json{5}})), fuse_all);
  EXPECT_RIGHT(pooled("adaptive_avg_pool3d", {1, 2, 5, 6, 7}, json::array({json{2, 3, 4}})), fuse_all);
}

TEST_F(Pooling, LeavesOneElementForAllToRows) {
  const TaskText task = pooled("adaptive_avg_pool2d", {2, 3, 9, 10}, json::array({json{1, 1}}));
  const Verdict verdict = judged(task, fuse_all);
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.techniques, std::vector<std::string>{"rows"});
  const Verdict whole = judged(pooled("avg_pool2d", {2, 3, 5, 7}, {{5, 7}}), fuse_all);
  EXPECT_EQ(whole.status, "ok") << whole.message;
  EXPECT_EQ(whole.techniques, std::vector<std::string>{"rows"});
  TaskText places = pooled("adaptive_max_pool2d", {2, 3, 9, 10}, json::array({json{1, 1}}));
  EXPECT_RIGHT(places.output("pool_1[1]"), fuse_all);
}

TEST_F(Pooling, IsRightForStridedInputsAndSingleElements) {
  EXPECT_RIGHT(pooled("max_pool2d", {2, 3, 9, 8}, {{3, 3}, {1, 1}, {1, 1}}, {{"strides", {216, 72, 1, 9}}}), fuse_all);
  EXPECT_RIGHT(pooled("avg_pool2d", {1, 1, 1, 1}, {{3, 3}, {1, 1}, {1, 1}}), fuse_all);
  EXPECT_RIGHT(pooled("max_pool2d", {3, 5, 6}, {{3, 3}}), fuse_all);  // no batch
  EXPECT_RIGHT(pooled("max_pool2d", {0, 3, 5, 6}, {{3, 3}}), fuse_all);
}

TEST_F(Pooling, ReadsThroughViewsWhereWindowsStayInside) {
  TaskText task;
  task.input("x", {2, 3, 30}).node("relu_1", "aten::relu", {"x"});
  task.node("view_1", "aten::view", {"relu_1", {2, 3, 5, 6}});
  task.node("pool_1", "aten::max_pool2d", {"view_1", {3, 3}, {1, 1}});
  task.output("pool_1");
  EXPECT_RIGHT(task, "//! fuse relu_1 pool_1\n");
  TaskText padded;
  padded.input("x", {2, 3, 30}).node("relu_1", "aten::relu", {"x"});
  padded.node("view_1", "aten::view", {"relu_1", {2, 3, 5, 6}});
  padded.node("pool_1", "aten::max_pool2d", {"view_1", {3, 3}, {1, 1}, {1, 1}}).output("pool_1");
  EXPECT_REFUSED(padded, "//! fuse relu_1 pool_1\n", "beyond the ends");
}

TEST_F(Pooling, AddsToAState) {
  TaskText task;
  task.state("s", {2, 3, 6, 6}).input("x", {2, 3, 6, 6});
  task.node("pool_1", "aten::max_pool2d", {"x", {3, 3}, {1, 1}, {1, 1}});
  task.node("add_1", "aten::add_.Tensor", {"s", "pool_1"}, {{"writes_state", {"s"}}});
  task.node("relu_1", "aten::relu", {"x"}).output("relu_1");
  EXPECT_RIGHT(task, "//! fuse pool_1 add_1\n");
}

TEST_F(Pooling, RefusesWhatItCannotWrite) {
  const TaskText task = pooled("max_pool2d", {2, 3, 9, 11}, {{3, 3}, {1, 1}});
  EXPECT_REFUSED(task, with("vector=4"), "vector=4");
  EXPECT_REFUSED(task, with("items=2 along=z"), "along z");
  EXPECT_REFUSED(pooled("max_pool1d", {2, 3, 500}, {{200}, {1}}), with("items=2"), "registers");
  TaskText both = task;
  both.output("relu_1");
  EXPECT_REFUSED(both, fuse_all, "fuse");
  TaskText same = pooled("max_pool2d", {2, 3, 9, 12}, {{3, 3}});
  EXPECT_REFUSED(same.output("relu_1"), fuse_all, "apart");
  TaskText state;
  state.state("s", {2, 3, 6, 6}).node("pool_1", "aten::max_pool2d", {"s", {3, 3}, {1, 1}, {1, 1}});
  state.node("add_1", "aten::add_.Tensor", {"s", "pool_1"}, {{"writes_state", {"s"}}});
  state.input("y", {2}).node("relu_1", "aten::relu", {"y"}).output("relu_1");
  EXPECT_REFUSED(state, "//! fuse pool_1 add_1\n", "updates");
  TaskText broadcast;
  broadcast.input("x", {2, 3, 4, 8}).input("y", {5, 2, 3, 2, 4}).node("pool_1", "aten::max_pool2d", {"x", {2, 2}});
  broadcast.node("mul_1", "aten::mul.Tensor", {"pool_1", "y"}).output("mul_1");
  EXPECT_REFUSED(broadcast, "//! fuse pool_1 mul_1\n", "times");
}

TaskText pooled_twice(const char* first, const json& first_arguments, const char* second,
                      const json& second_arguments) {
  TaskText task;
  task.input("x", {2, 3, 13, 12});
  json inner = {"x"}, outer = {"pool_1"};
  for (const json& argument : first_arguments) inner.push_back(argument);
  for (const json& argument : second_arguments) outer.push_back(argument);
  task.node("pool_1", first, inner).node("pool_2", second, outer).output("pool_2");
  return task;
}

TEST_F(Pooling, MakesOneOfPoolingThatFollowsPooling) {
  const char *max = "aten::max_pool2d", *average = "aten::avg_pool2d", *fuse = "//! fuse pool_1 pool_2\n";
  EXPECT_RIGHT(pooled_twice(max, {{2, 2}}, max, {{2, 3}}), fuse);
  EXPECT_RIGHT(pooled_twice(max, {{3, 3}, {1, 2}, {1, 1}}, max, {{3, 1}, {1, 1}, {1, 0}}), fuse);
  EXPECT_RIGHT(pooled_twice(average, {{2, 3}}, average, {{3, 2}, {2, 1}, {1, 1}, false, false}), fuse);
  EXPECT_RIGHT(pooled_twice(average, {{2, 3}, {1, 1}, {1, 1}}, "aten::adaptive_avg_pool2d", json::array({json{4, 5}})),
               fuse);
  EXPECT_RIGHT(pooled_twice(max, {{2, 2}}, average, {{2, 3}}), "//! fuse pool_1 pool_2 : block=64\n");
  EXPECT_RIGHT(pooled_twice(average, {{3, 3}, {2, 2}, {1, 1}, false, false}, average, {{2, 3}}), fuse);
  EXPECT_REFUSED(pooled_twice(max, {{2, 2}}, average, {{2, 3}}), "//! fuse pool_1 pool_2 : items=2\n", "one output");
  EXPECT_REFUSED(pooled_twice(max, {{2, 2}, {1, 1}}, max, {{3, 3}, {1, 1}}), fuse, "times");
}

TEST_F(Pooling, MakesOneOfPoolingBesidePooling) {
  TaskText task;
  task.input("x", {2, 3, 13, 12}).node("pool_1", "aten::max_pool2d", {"x", {3, 3}, {1, 1}, {1, 1}});
  task.node("pool_2", "aten::avg_pool2d", {"x", {3, 3}, {1, 1}, {1, 1}});
  task.node("sub_1", "aten::sub.Tensor", {"pool_1", "pool_2"}).output("sub_1");
  EXPECT_RIGHT(task, "//! fuse pool_1 pool_2 sub_1\n");
}

TEST_F(Pooling, CountsBeyondThirtyTwoBits) {
  TaskText task;
  const json far = {{"strides", {std::int64_t{1} << 32, 64, 8, 1}}};
  task.input("x", {2, 1, 8, 8}, far).output("pool_1");
  task.node("pool_1", "aten::max_pool2d", {"x", {3, 3}, {1, 1}, {1, 1}},
            {{"outputs", {{{"dtype", "f32"}, {"shape", {2, 1, 8, 8}}}}}});
  const Verdict verdict = planned(task, "//! fuse pool_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_NE(verdict.code.find("4294967296ull * i0"), std::string::npos) << verdict.code;
}

}  // namespace
}  // namespace cudal1::testing
