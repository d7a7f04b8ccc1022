// Steps that touch the same memory keep their order on however many branches; others may run side by side.
#include "program/step_branches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "sample_graphs.hpp"

namespace cudal1 {
namespace {

std::string name_of(const Plan& plan, const Step& step) {
  if (const auto* launch = std::get_if<LaunchStep>(&step)) return launch->kernel;
  if (const auto* zero = std::get_if<ZeroStep>(&step)) return "zero " + plan.buffers[zero->buffer].name;
  return std::get<OpStep>(step).node.name;
}

class Branches : public testing::Test {
 protected:
  void make(const OpGraph& graph, const std::string& text) {
    const Result<Plan> result = make_plan(graph, text);
    ASSERT_TRUE(result.ok()) << result.failure().message;
    plan_ = result.value();
  }

  std::size_t step(const std::string& name) const {
    for (std::size_t i = 0; i < plan_.call.size(); ++i)
      if (name_of(plan_, plan_.call[i]) == name) return i;
    ADD_FAILURE() << "no step " << name;
    return 0;
  }

  bool is_before(const std::string& one, const std::string& other) const {
    return StepOrder(plan_).is_before(step(one), step(other));
  }
  bool are_free(const std::string& one, const std::string& other) const {
    return !is_before(one, other) && !is_before(other, one);
  }

  Plan plan_;
};

void expect_refused(const OpGraph& graph, const std::string& text, const std::string& message) {
  const Result<Plan> result = make_plan(graph, text);
  ASSERT_FALSE(result.ok()) << text;
  EXPECT_NE(result.failure().message.find(message), std::string::npos) << result.failure().message;
  EXPECT_GT(result.failure().at.line, 0);
}

const std::string no_two = "no two steps of this call are independent";

//! Both chains of two_chains() as kernels with a third argument each.
std::string two_kernels(const std::string& declared, const std::string& third, const std::string& other_third,
                        const std::string& type = "const float*") {
  return declared + "__global__ void left(const float* a, float* y, " + type + " s) {}\n" +
         "__global__ void right(const float* b, float* y, " + type + " s) {}\n" +
         "//! kernel left replaces relu_1 tanh_1 : grid=1 block=1 args=(a, tanh_1, " + third + ")\n" +
         "//! kernel right replaces relu_2 tanh_2 : grid=1 block=1 args=(b, tanh_2, " + other_third +
         ")\n//! graph : branches=2\n";
}

TEST_F(Branches, AreChainsOfTheLibrary) {
  make(sample::two_chains(), "//! graph : branches=2\n");
  EXPECT_TRUE(is_before("relu_1", "tanh_1"));
  EXPECT_TRUE(is_before("relu_2", "tanh_2"));
  for (const char* one : {"relu_1", "tanh_1"})
    for (const char* other : {"relu_2", "tanh_2"}) EXPECT_TRUE(are_free(one, other)) << one << " " << other;
  for (const BranchStep& each : plan_.branches) EXPECT_TRUE(each.waits_for.empty());
}

TEST_F(Branches, AreNoneUnlessAskedFor) {
  make(sample::two_chains(), "//! graph\n");
  EXPECT_TRUE(plan_.branches.empty());
  EXPECT_TRUE(is_before("relu_1", "relu_2"));
  const std::string hash = plan_.hash;
  make(sample::two_chains(), "//! graph : branches=1\n");
  EXPECT_EQ(plan_.hash, hash);
  make(sample::two_chains(), "//! graph : branches=2\n");
  EXPECT_NE(plan_.hash, hash);
}

TEST_F(Branches, WaitForWhatIsRead) {
  expect_refused(sample::diamond(), "//! graph : branches=2\n", no_two);
  sample::GraphBuilder fork;
  const ValueId x = fork.leaf(ValueKind::input, "x", {64});
  const ValueId relu = fork.node("relu_1", "aten::relu", {x}, {64});
  const ValueId left = fork.node("tanh_1", "aten::tanh", {relu}, {64});
  const ValueId right = fork.node("exp_1", "aten::exp", {relu}, {64});
  fork.output(fork.node("add_1", "aten::add.Tensor", {left, right}, {64}));
  make(fork.graph, "//! graph : branches=4\n");
  EXPECT_TRUE(is_before("relu_1", "tanh_1") && is_before("relu_1", "exp_1"));
  EXPECT_TRUE(are_free("tanh_1", "exp_1"));
  EXPECT_TRUE(is_before("tanh_1", "add_1") && is_before("exp_1", "add_1"));
}

TEST_F(Branches, WaitThroughViews) {
  make(sample::views(), "//! graph : branches=2\n");
  EXPECT_TRUE(is_before("relu_1", "exp_1") && is_before("relu_1", "neg_1"));
  EXPECT_TRUE(are_free("exp_1", "neg_1"));
}

TEST_F(Branches, ReadWeightsAndPreparedBuffersTogether) {
  sample::GraphBuilder builder;
  const ValueId a = builder.leaf(ValueKind::input, "a", {64});
  const ValueId w = builder.leaf(ValueKind::weight, "w", {64});
  builder.output(builder.node("mul_1", "aten::mul.Tensor", {a, w}, {64}));
  builder.output(builder.node("add_1", "aten::add.Tensor", {a, w}, {64}));
  make(builder.graph, "//! graph : branches=2\n");
  EXPECT_TRUE(are_free("mul_1", "add_1"));
  make(sample::two_chains(), two_kernels("//! buffer table f32 [4]\n//! prepare fill : grid=1 block=1 args=(table)\n"
                                         "__global__ void fill(float* t) {}\n",
                                         "table", "table"));
  EXPECT_TRUE(are_free("left", "right"));
}

TEST_F(Branches, KeepTheOrderOfSharedScratch) {
  const std::string shared = "//! buffer scratch f32 [4]\n";
  expect_refused(sample::two_chains(), two_kernels(shared, "scratch", "scratch", "float*"), no_two);
  make(sample::two_chains(), two_kernels(shared + "//! buffer other f32 [4]\n", "scratch", "other", "float*"));
  EXPECT_TRUE(are_free("left", "right"));
}

TEST_F(Branches, KeepAWriterBehindThoseWhoRead) {
  const std::string declared =
      "//! buffer scratch f32 [4]\n__global__ void make(float* s) {}\n"
      "__global__ void left(const float* s, const float* a, float* y) {}\n"
      "__global__ void right(float* s, const float* b, float* y) {}\n";
  make(sample::two_chains(), declared +
                                 "//! group g replaces relu_1 tanh_1\n//! launch make : grid=1 block=1 args=(scratch)\n"
                                 "//! launch left : grid=1 block=1 args=(scratch, a, tanh_1)\n"
                                 "//! kernel right replaces tanh_2 : grid=1 block=1 args=(scratch, relu_2, tanh_2)\n"
                                 "//! graph : branches=3\n");
  EXPECT_TRUE(is_before("left", "right"));
  EXPECT_TRUE(are_free("relu_2", "make"));
}

TEST_F(Branches, TakeWhatIsNotConstAsWritten) {
  for (const char* type : {"float*", "float* const", "void*", "float* __restrict__"})
    expect_refused(sample::two_chains(), two_kernels("", "a", "a", type), no_two);
  for (const char* type : {"const float*", "float const*", "const float* __restrict__", "const void* const"}) {
    make(sample::two_chains(), two_kernels("", "a", "a", type));
    EXPECT_TRUE(are_free("left", "right")) << type;
  }
  expect_refused(sample::two_chains(), two_kernels("#define READ const float*\n", "a", "a", "READ"), no_two);
}

TEST_F(Branches, ZeroBeforeWhoeverUsesIt) {
  make(sample::two_chains(),
       two_kernels("//! buffer sums f32 [4] zero\n//! buffer other f32 [4]\n", "other", "sums", "float*"));
  EXPECT_TRUE(is_before("zero sums", "right"));
  EXPECT_TRUE(are_free("zero sums", "left"));
}

TEST_F(Branches, KeepTheOrderOfState) {
  expect_refused(sample::with_state(), "//! graph : branches=2\n", no_two);
  sample::GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {8, 4});
  const ValueId mean = builder.leaf(ValueKind::state, "running_mean", {4});
  builder.output(builder.node("mul_1", "aten::mul.Tensor", {mean, mean}, {4}));
  const ValueId norm = builder.node("batch_norm_1", "aten::batch_norm", {x, mean}, {8, 4});
  builder.graph.nodes.back().writes_state = {mean};
  builder.output(norm);
  builder.output(builder.node("exp_1", "aten::exp", {x}, {8, 4}));
  make(builder.graph, "//! graph : branches=2\n");
  EXPECT_TRUE(is_before("mul_1", "batch_norm_1")) << "it must see the state as it was before the call";
  EXPECT_TRUE(are_free("exp_1", "batch_norm_1"));
}

TEST_F(Branches, AreRefusedWhereTheyCannotBe) {
  expect_refused(sample::two_chains(), "//! graph : branches=9\n", "branches is 9; a graph has 1 to 8");
  expect_refused(sample::two_chains(), "//! graph : branches=0\n", "branches is 0");
  expect_refused(sample::two_chains(), "//! graph : streams=2\n", "graph has one parameter, branches=2 to 8");
  expect_refused(sample::two_chains(), "//! graph : branches=2 branches=2\n", "expected the end");
  expect_refused(sample::two_chains(), "//! branches=2\n", "branches are those of a graph: //! graph : branches=2");
  expect_refused(sample::chain(), "//! graph : branches=2\n", no_two);
}

TEST_F(Branches, SurviveJson) {
  make(sample::two_chains(), "//! graph : branches=2\n");
  const nlohmann::json json = plan_to_json(plan_);
  EXPECT_EQ(plan_to_json(plan_from_json(json)), json);
  for (const auto& [path, wrong] : {std::pair{"/branches/1/waits_for", nlohmann::json{1}},
                                    {"/branches/1/branch", nlohmann::json(8)},
                                    {"/branches", nlohmann::json::array()}}) {
    nlohmann::json changed = json;
    changed[nlohmann::json::json_pointer(path)] = wrong;
    EXPECT_THROW(plan_from_json(changed), Error) << path;
  }
}

TEST_F(Branches, CanRunTheOtherWayRound) {
  make(sample::two_chains(), "//! graph : branches=2\n");
  std::vector<std::string> names;
  for (const std::size_t each : StepOrder(plan_).unlike_the_plan()) names.push_back(name_of(plan_, plan_.call[each]));
  const auto place = [&](const char* name) { return std::ranges::find(names, name) - names.begin(); };
  EXPECT_LT(place("tanh_2"), place("relu_1"));
  EXPECT_LT(place("relu_2"), place("tanh_2"));
  EXPECT_LT(place("relu_1"), place("tanh_1"));
}

//! Launches that read and write a few of few buffers; "r" and "w" of a kernel's name say which argument is written.
Plan random_plan(std::mt19937& random) {
  Plan plan;
  plan.buffers.resize(6);
  const std::size_t steps = 2 + random() % 20;
  for (std::size_t i = 0; i < steps; ++i) {
    LaunchStep step;
    for (std::size_t argument = 0; argument < 1 + random() % 3; ++argument) {
      step.kernel += random() % 3 == 0 ? 'w' : 'r';
      step.args.emplace_back(TensorRef{static_cast<int>(random() % plan.buffers.size()), 0, {}});
    }
    plan.call.emplace_back(step);
  }
  return plan;
}

std::vector<bool> written(const LaunchStep& step) {
  std::vector<bool> writes;
  for (const char letter : step.kernel) writes.push_back(letter == 'w');
  return writes;
}

bool conflict(const Step& one, const Step& other) {
  const auto &first = std::get<LaunchStep>(one), &second = std::get<LaunchStep>(other);
  for (std::size_t i = 0; i < first.args.size(); ++i)
    for (std::size_t k = 0; k < second.args.size(); ++k)
      if (std::get<TensorRef>(first.args[i]).buffer == std::get<TensorRef>(second.args[k]).buffer &&
          (written(first)[i] || written(second)[k]))
        return true;
  return false;
}

TEST_F(Branches, OrderEveryConflictOfRandomPlans) {
  std::mt19937 random(7);
  int forked = 0, waits = 0;
  for (int round = 0; round < 2000; ++round) {
    Plan plan = random_plan(random);
    plan.branches = spread_over_branches(plan, 2 + static_cast<int>(random() % 7), written);
    forked += !plan.branches.empty();
    const StepOrder order(plan);
    for (std::size_t later = 1; later < plan.call.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier)
        if (conflict(plan.call[earlier], plan.call[later])) {
          ASSERT_TRUE(order.is_before(earlier, later)) << round;
        }
    for (const BranchStep& each : plan.branches) waits += static_cast<int>(each.waits_for.size());
    std::vector<std::size_t> all = order.unlike_the_plan();
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = i + 1; k < all.size(); ++k) ASSERT_FALSE(order.is_before(all[k], all[i]));
    std::ranges::sort(all);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
  }
  EXPECT_GT(forked, 500);
  EXPECT_GT(waits, 500);
}

}  // namespace
}  // namespace cudal1
