// `fuse` of nodes with reductions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;

class Rows : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

struct Op {
  std::string op;
  json args;
  json kwargs = json::object();
  int outputs = 1;
};

//! A node for each, n1, n2 …, all of them outputs, each in a fusion of its own.
std::string add_ops(TaskText& task, const std::vector<Op>& ops) {
  std::string program;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string name = fmt::format("n{}", i + 1);
    task.node(name, "aten::" + ops[i].op, ops[i].args, {{"kwargs", ops[i].kwargs}}).output(name);
    for (int k = 1; k < ops[i].outputs; ++k) task.output(fmt::format("{}[{}]", name, k));
    program += fmt::format("//! fuse {}\n", name);
  }
  return program;
}

json uniform(double low, double high) { return {{"draw", {{"kind", "uniform"}, {"low", low}, {"high", high}}}}; }
json constant(double value) { return {{"draw", {{"kind", "constant"}, {"value", value}}}}; }
//! Stays between 0 and 1.
json probabilities() {
  json made = uniform(0.1, 0.9);
  made["exclude"] = {"scaled", "spiked", "negative", "centred"};
  return made;
}
json integers(const char* dtype, int low, int high) {
  return {{"dtype", dtype}, {"draw", {{"kind", "integers"}, {"low", low}, {"high", high}}}};
}

TaskText softmax_of(const std::vector<std::int64_t>& shape, int dim, const json& more = {}) {
  TaskText task;
  task.input("x", shape, more).node("mul_1", "aten::mul.Tensor", {"x", 0.5});
  task.node("softmax_1", "aten::softmax.int", {"mul_1", dim}).node("add_1", "aten::add.Tensor", {"softmax_1", 1.0});
  task.output("add_1");
  return task;
}

constexpr const char* fuse_softmax = "//! fuse mul_1 softmax_1 add_1";

TEST_F(Rows, FusesWhatComesBeforeAndAfter) {
  const Verdict verdict = judged(softmax_of({5, 33}, 1), std::string(fuse_softmax) + "\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps.size(), 1u);
  EXPECT_EQ(verdict.techniques, std::vector<std::string>{"rows"});
}

TEST_F(Rows, IsRightForOddSizes) {
  for (const auto& [rows, columns] :
       {std::pair{1, 1}, {7, 1}, {1, 31}, {13, 37}, {3, 1030}, {300, 5}, {2, 5000}, {0, 4}})
    EXPECT_RIGHT(softmax_of({rows, columns}, 1), std::string(fuse_softmax) + "\n");
}

//! gelu_1 of x times s, which are the same in all columns of a row, and r_1, a function of such rows.
TaskText of_equal_columns(std::int64_t columns, const Op& op) {
  TaskText task;
  task.input("x", {7, 1, 1}).weight("s", {3, columns}, constant(0.7)).node("mul_1", "aten::mul.Tensor", {"x", "s"});
  task.node("gelu_1", "aten::gelu", {"mul_1"});
  task.node("r_1", "aten::" + op.op, op.args, {{"kwargs", op.kwargs}}).output("r_1");
  return task;
}

//! Where a row's elements are all the same, or there is but one, what is left when their mean or maximum is taken off
//! is nothing, not what rounding took off gelu's last product.
TEST_F(Rows, EqualElementsLeaveNothingWhereProductsAreContracted) {
  for (const auto& [columns, parameters] : {std::pair{1, ""}, {1, " : keep=no"}, {40, ""}, {40, " : split=2"}}) {
    const std::string fuse = fmt::format("//! fuse mul_1 gelu_1 r_1{}\n", parameters);
    for (const Op& op : {Op{"var.correction", {"gelu_1", {2}}, {{"correction", 0}}},
                         Op{"layer_norm", {"gelu_1", {columns}}}, Op{"group_norm", {"gelu_1", 3}},
                         Op{"instance_norm", {"gelu_1", nullptr, nullptr, nullptr, nullptr, true, 0.1, 1e-5, true}},
                         Op{"softmax.int", {"gelu_1", 2}}, Op{"log_softmax.int", {"gelu_1", 2}}})
      EXPECT_RIGHT_CONTRACTED(of_equal_columns(columns, op), fuse);
  }
}

//! The same where the task takes the mean off by itself, from either side.
TEST_F(Rows, WrittenDifferencesLeaveNothingWhereProductsAreContracted) {
  for (const char* op : {"sub.Tensor", "rsub.Tensor"}) {
    TaskText task = of_equal_columns(1, {"mean.dim", {"gelu_1", {2}, true}});
    task.node("sub_1", fmt::format("aten::{}", op), {"gelu_1", "r_1"}).output("sub_1");
    EXPECT_RIGHT_CONTRACTED(task, "//! fuse mul_1 gelu_1 r_1 sub_1\n");
  }
  for (const char* op : {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"}) {
    TaskText task = of_equal_columns(1, {"mean.dim", {"gelu_1", {2}, true}});
    task.node("loss_1", fmt::format("aten::{}", op), {"gelu_1", "r_1", 0}).output("loss_1");
    EXPECT_RIGHT_CONTRACTED(task, "//! fuse mul_1 gelu_1 r_1 loss_1\n");
  }
}

//! A compiler contracts mul_1 into add_1 in a pass that needs it for nothing else, and not in the one that stores it.
TEST_F(Rows, PassesAddTheSameRoundedNumbers) {
  const auto code_of = [](const char* op, const json& args) {
    TaskText task;
    task.input("x", {7, 40}).weight("s", {40}).weight("b", {40}).node("mul_1", "aten::mul.Tensor", {"x", "s"});
    task.node("add_1", "aten::add.Tensor", {"mul_1", "b"}).node("r_1", op, args).output("r_1").output("mul_1");
    EXPECT_RIGHT_CONTRACTED(task, "//! fuse mul_1 add_1 r_1 : split=2\n");
    return planned(task, "//! fuse mul_1 add_1 r_1 : split=2\n").code;
  };
  const std::string twice = code_of("aten::layer_norm", {"add_1", {40}, "s", "b"}),
                    once = code_of("aten::logsumexp", {"add_1", {1}});
  EXPECT_EQ(twice.find("t2 + t"), std::string::npos) << "a product is added to without being rounded\n" << twice;
  EXPECT_NE(twice.find("cudal1::sum(t2, t"), std::string::npos) << twice;
  EXPECT_EQ(once.find("cudal1::sum("), std::string::npos) << "one pass computes it\n" << once;
}

TEST_F(Rows, EveryParameterValueIsRight) {
  for (const char* parameters :
       {"lanes=1 vector=1", "lanes=2 vector=2 keep=no", "lanes=4 vector=4 split=2", "lanes=8 split=16",
        "lanes=16 keep=yes", "lanes=32 threads=along", "lanes=64 split=4 vector=1", "lanes=128 keep=no", "lanes=256",
        "lanes=512 keep=yes", "lanes=1024", "split=32 lanes=1", "threads=across", "threads=across lanes=32",
        "threads=across lanes=1 split=8", "threads=across lanes=4 keep=yes"})
    EXPECT_RIGHT(softmax_of({5, 132}, 1), fmt::format("{} : {}\n", fuse_softmax, parameters));
}

TEST_F(Rows, ReducesAnyDimension) {
  for (const int dim : {0, 1, 2}) EXPECT_RIGHT(softmax_of({5, 6, 33}, dim), std::string(fuse_softmax) + "\n");
  EXPECT_RIGHT(softmax_of({6, 9}, 1, {{"strides", {1, 6}}}), std::string(fuse_softmax) + "\n");
  EXPECT_RIGHT(softmax_of({6, 8}, 1, {{"strides", {20, 2}}}), std::string(fuse_softmax) + "\n");
  EXPECT_RIGHT(softmax_of({4, 24}, 1, {{"dtype", "f16"}}), std::string(fuse_softmax) + "\n");
  EXPECT_RIGHT(softmax_of({4, 24}, 0, {{"dtype", "bf16"}}), std::string(fuse_softmax) + "\n");
}

TEST_F(Rows, ReductionsArePyTorchs) {
  TaskText task;
  task.input("x", {4, 7, 5}).input("p", {4, 7, 5}, uniform(0.5, 1.5)).input("s", {}).input("e", {0, 3});
  const std::vector<Op> ops = {{"sum", {"x"}},
                               {"sum.dim_IntList", {"x", {0, 2}, true}},
                               {"sum.dim_IntList", {"x", {-2}}},
                               {"mean", {"x"}},
                               {"mean.dim", {"x", {1, 2}}},
                               {"prod", {"p"}},
                               {"prod.dim_int", {"p", 1}},
                               {"amax", {"x", {1}}},
                               {"amin", {"x", {0, 1}}},
                               {"max", {"x"}},
                               {"min", {"x"}},
                               {"max.dim", {"x", 1}, json::object(), 2},
                               {"min.dim", {"x", 2, true}, json::object(), 2},
                               {"argmax", {"x"}},
                               {"argmin", {"x", 0}},
                               {"var.correction", {"x", {1}}, {{"correction", 0}}},
                               {"var.dim", {"x", {2}, true}},
                               {"std.correction", {"x", {0, 2}}, {{"correction", 1}}},
                               {"std", {"x", false}},
                               {"var_mean.correction", {"x", {2}}, {{"correction", 1}}, 2},
                               {"logsumexp", {"x", {1}}},
                               {"linalg_vector_norm", {"x", 2, {1}}},
                               {"linalg_vector_norm", {"x", 1, {1}}},
                               {"linalg_vector_norm", {"x", 3, {2}, true}},
                               {"linalg_vector_norm", {"x", json{{"float", "inf"}}, {2}}},
                               {"linalg_vector_norm", {"x", 0}},
                               {"norm.ScalarOpt_dim", {"x", 2, {0}, true}},
                               {"any.dim", {"x", 1}},
                               {"all", {"x"}},
                               {"count_nonzero.dim_IntList", {"x", {0}}},
                               {"aminmax", {"x"}, {{"dim", 1}}, 2},
                               {"log_softmax.int", {"x", 1}},
                               {"sum", {"s"}},
                               {"sum.dim_IntList", {"e", {0}}},
                               {"sum.dim_IntList", {"e", {1}}}};
  EXPECT_RIGHT(task, add_ops(task, ops));
}

TEST_F(Rows, ReducesIntegersAndMasks) {
  TaskText task;
  task.input("i", {6, 11}, integers("i32", -9, 9)).input("u", {6, 11}, integers("u8", 0, 255));
  task.input("m", {6, 11}, {{"dtype", "bool"}, {"draw", {{"kind", "bernoulli"}, {"p", 0.9}}}});
  const std::vector<Op> ops = {{"sum", {"i"}},
                               {"sum.dim_IntList", {"m", {1}}},
                               {"amax", {"u", {0}}},
                               {"prod.dim_int", {"i", 1}},
                               {"any.dim", {"m", 1}},
                               {"all.dim", {"m", 1}},
                               {"max.dim", {"i", 1}, json::object(), 2},
                               {"argmin", {"u", 1}},
                               {"mean", {"i"}, {{"dtype", {{"dtype", "f32"}}}}},
                               {"amax", {"m", {1}}}};
  EXPECT_RIGHT(task, add_ops(task, ops));
}

TEST_F(Rows, CastsAreNarrowBeforeTheyAreReduced) {
  TaskText task;
  task.input("x", {4, 33}, integers("i32", -1000, 1000)).node("to_1", "aten::to.dtype", {"x", {{"dtype", "u8"}}});
  task.node("sum_1", "aten::sum.dim_IntList", {"to_1", {1}}).output("sum_1");
  EXPECT_RIGHT(task, "//! fuse to_1 sum_1\n");
}

TEST_F(Rows, WarpsExchangePlacesOfIntegers) {
  TaskText task;
  task.input("x", {5, 70}, integers("i64", -5, 5)).node("max_1", "aten::max.dim", {"x", 1});
  task.node("argmin_1", "aten::argmin", {"x", 1}).output("max_1").output("max_1[1]").output("argmin_1");
  for (const char* parameters : {"", " : lanes=64", " : split=2", " : threads=across lanes=8"})
    EXPECT_RIGHT(task, fmt::format("//! fuse max_1{0}\n//! fuse argmin_1{0}\n", parameters));
}

TEST_F(Rows, ArgumentsMayHaveNames) {
  TaskText task;
  task.input("x", {9, 4}).weight("w", {4, 5}).weight("v", {5, 4});
  const std::vector<Op> ops = {{"softmax.int", json::array(), {{"self", "x"}, {"dim", 0}}},
                               {"sum.dim_IntList", json::array(), {{"self", "x"}, {"dim", {1}}}},
                               {"mm", {"x"}, {{"mat2", "w"}}},
                               {"linear", json::array(), {{"input", "x"}, {"weight", "v"}}}};
  EXPECT_RIGHT(task, add_ops(task, ops));
}

TEST_F(Rows, RowsWithoutColumnsKeepNothing) {
  for (const char* parameters : {"\n", " : keep=yes\n", " : keep=no\n"}) {
    const Verdict verdict = judged(softmax_of({5, 0}, 1), std::string(fuse_softmax) + parameters);
    EXPECT_EQ(verdict.status, "ok") << verdict.message;
    EXPECT_EQ(verdict.code.find("[0];"), std::string::npos) << verdict.code;
  }
}

//! Each element stands under the condition that it lies in the one tensor or in the other. A loop over all of a row must
//! not be written out because registers would keep what there is not.
TEST_F(Rows, KeepNothingOfWhatIsReadUnderConditions) {
  TaskText task;
  task.input("x", {3, 700}).input("y", {3, 324}).node("cat_1", "aten::cat", {json::array({"x", "y"}), 1});
  task.node("softmax_1", "aten::softmax.int", {"cat_1", -1}).output("softmax_1");
  const Verdict verdict = judged(task, "//! fuse cat_1 softmax_1 : lanes=32\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.code.find("for (int j"), std::string::npos) << verdict.code;
  EXPECT_REFUSED(task, "//! fuse cat_1 softmax_1 : lanes=32 keep=yes\n", "under a condition");
}

TEST_F(Rows, AreNotSplitWhereOneBlockReadsThemAtOnce) {
  const Verdict verdict = planned(softmax_of({8, 4096}, 1), "//! fuse mul_1 softmax_1 add_1\n");
  EXPECT_EQ(verdict.steps.size(), 1u);
  EXPECT_NE(verdict.code.find("grid=(8, 1, 1) block=(1024, 1, 1)"), std::string::npos) << verdict.code;
}

//! 9 blocks for each of 32 channels would be enough threads for an H200, but two or three for each multiprocessor.
TEST_F(Rows, AreSplitSoThatMultiprocessorsHaveEquallyManyBlocks) {
  const auto grid_of = [](std::int64_t channels) {
    TaskText task;
    task.input("x", {10, channels, 224, 224});
    task.node("mean_1", "aten::mean.dim", {"x", {0, 2, 3}}).output("mean_1");
    const std::string code = planned(task, "//! fuse mean_1\n").code;
    const std::size_t begin = code.find("grid=(");
    return code.substr(begin, code.find(')', begin) + 1 - begin);
  };
  EXPECT_EQ(grid_of(32), "grid=(32, 8, 1)") << "256 blocks for 132 multiprocessors";
  EXPECT_EQ(grid_of(33), "grid=(33, 8, 1)") << "264";
  EXPECT_EQ(grid_of(1), "grid=(1, 132, 1)") << "a large block for a part of one row would leave most of them idle";
}

TEST_F(Rows, ProductsMayHaveDepthOne) {
  TaskText task;
  task.input("x", {5, 1}).input("y", {1}).input("z", {3, 1, 1}).input("b", {3, 1, 8}).weight("w", {1, 1});
  const std::vector<Op> ops = {
      {"mv", {"x", "y"}}, {"dot", {"y", "y"}}, {"linear", {"x", "w", "y"}}, {"bmm", {"z", "b"}}};
  EXPECT_RIGHT(task, add_ops(task, ops));
}

TEST_F(Rows, NormalisationsArePyTorchs) {
  TaskText task;
  task.input("x", {4, 6, 5}).weight("w", {6}).weight("b", {6}).weight("w2", {6, 5}).weight("b2", {6, 5});
  task.weight("w3", {5});
  const std::vector<Op> ops = {{"layer_norm", {"x", {6, 5}, "w2", "b2"}},
                               {"layer_norm", {"x", {5}, "w3", nullptr, 1e-3}},
                               {"rms_norm", {"x", {5}, "w3", 1e-6}},
                               {"group_norm", {"x", 3, "w", "b"}},
                               {"group_norm", {"x", 1}},
                               {"instance_norm", {"x", "w", "b", nullptr, nullptr, true, 0.1, 1e-5, true}}};
  EXPECT_RIGHT(task, add_ops(task, ops));
}

TaskText batch_norm_in_training() {
  TaskText task;
  task.input("x", {3, 4, 7}).weight("w", {4}).weight("b", {4});
  task.state("mean", {4}).state("var", {4}, uniform(0.5, 2.0)).state("count", {}, integers("i64", 3, 4));
  task.node("add_1", "aten::add_.Tensor", {"count", 1}, {{"writes_state", {"count"}}});
  task.node("relu_1", "aten::relu", {"x"});
  task.node("batch_norm_1", "aten::batch_norm", {"relu_1", "w", "b", "mean", "var", true, 0.1, 1e-5, true},
            {{"writes_state", {"mean", "var"}}});
  return task;
}

TEST_F(Rows, TrainingUpdatesStatistics) {
  TaskText task = batch_norm_in_training();
  task.node("tanh_1", "aten::tanh", {"batch_norm_1"}).output("tanh_1");
  for (const char* parameters : {"\n", " : split=2\n", " : threads=across\n"})
    EXPECT_RIGHT(task, std::string("//! fuse relu_1 batch_norm_1 tanh_1") + parameters);
  EXPECT_RIGHT(task, "//! fuse add_1 relu_1 batch_norm_1 tanh_1\n");
  TaskText half = batch_norm_in_training();
  half.node("slice_1", "aten::slice.Tensor", {"batch_norm_1", 1, 0, 2}).node("exp_1", "aten::exp", {"slice_1"});
  half.output("exp_1");
  EXPECT_REFUSED(half, "//! fuse batch_norm_1 exp_1\n", "not everything is passed");
}

TEST_F(Rows, LossesArePyTorchs) {
  TaskText task;
  task.input("x", {6, 5}).input("y", {6, 5}).input("p", {6, 5}, probabilities()).input("q", {6, 5}, probabilities());
  task.input("sign", {6, 5}, {{"draw", {{"kind", "constant"}, {"value", -1.0}}}});
  std::vector<Op> ops;
  for (const int reduction : {0, 1, 2})
    for (const Op& op : std::vector<Op>{{"mse_loss", {"x", "y", reduction}},
                                        {"l1_loss", {"x", "y", reduction}},
                                        {"smooth_l1_loss", {"x", "y", reduction, 0.5}},
                                        {"huber_loss", {"x", "y", reduction, 0.5}},
                                        {"kl_div", {"x", "p", reduction}},
                                        {"soft_margin_loss", {"x", "sign", reduction}},
                                        {"hinge_embedding_loss", {"x", "sign", 1.0, reduction}},
                                        {"margin_ranking_loss", {"x", "y", "sign", 0.1, reduction}},
                                        {"binary_cross_entropy", {"p", "q", nullptr, reduction}},
                                        {"binary_cross_entropy_with_logits", {"x", "q", nullptr, nullptr, reduction}}})
      ops.push_back(op);
  ops.push_back({"kl_div", {"x", "y", 1}, {{"log_target", true}}});
  EXPECT_RIGHT(task, add_ops(task, ops));
}

TEST_F(Rows, LossesOfRowsArePyTorchs) {
  TaskText task;
  task.input("x", {6, 5}).input("y", {6, 5}).input("z", {6, 5}).input("deep", {2, 5, 3});
  task.input("p", {6, 5}, uniform(0.0, 1.0));
  task.input("label", {6}, integers("i64", 0, 5)).input("labels", {2, 3}, integers("i64", 0, 5));
  task.input("sign", {6}, {{"draw", {{"kind", "constant"}, {"value", -1.0}}}});
  std::vector<Op> ops;
  for (const int reduction : {0, 1, 2})
    for (const Op& op : std::vector<Op>{{"cross_entropy_loss", {"x", "label", nullptr, reduction}},
                                        {"cross_entropy_loss", {"deep", "labels", nullptr, reduction, 3}},
                                        {"cross_entropy_loss", {"x", "label", nullptr, reduction, 2, 0.1}},
                                        {"cross_entropy_loss", {"x", "p", nullptr, reduction}},
                                        {"nll_loss_nd", {"x", "label", nullptr, reduction, 1}},
                                        {"nll_loss_nd", {"deep", "labels", nullptr, reduction}},
                                        {"cosine_embedding_loss", {"x", "y", "sign", 0.1, reduction}},
                                        {"triplet_margin_loss", {"x", "y", "z", 1.0, 2.0, 1e-6, false, reduction}}})
      ops.push_back(op);
  ops.push_back({"cosine_similarity", {"x", "y"}});
  ops.push_back({"cosine_similarity", {"deep", "deep", 2}});
  ops.push_back({"pairwise_distance", {"x", "y", 1.0}});
  EXPECT_RIGHT(task, add_ops(task, ops));
}

TEST_F(Rows, LossesOfRowsJoinTheirNeighbours) {
  TaskText task;
  task.input("x", {6, 40}).input("label", {6}, integers("i64", 0, 40));
  task.node("mul_1", "aten::mul.Tensor", {"x", 2.0}).node("loss_1", "aten::cross_entropy_loss", {"mul_1", "label"});
  task.node("exp_1", "aten::exp", {"loss_1"}).output("exp_1");
  const Verdict verdict = judged(task, "//! fuse mul_1 loss_1 exp_1 : lanes=8\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message << verdict.code;
  EXPECT_EQ(verdict.steps.size(), 2u);
}

TEST_F(Rows, PassesShareWhatTheyCan) {
  TaskText task;
  task.input("x", {5, 12}).input("y", {5, 12}).node("cosine_1", "aten::cosine_similarity", {"x", "y"});
  task.output("cosine_1");
  const Verdict verdict = judged(task, "//! fuse cosine_1 : split=2 lanes=2\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps.size(), 2u);  // three sums, one kernel; then what they give
}

TEST_F(Rows, WritesEveryValueThatOthersRead) {
  TaskText task;
  task.input("x", {4, 9}).node("exp_1", "aten::exp", {"x"});
  task.node("sum_1", "aten::sum.dim_IntList", {"exp_1", {1}, true});
  task.node("div_1", "aten::div.Tensor", {"exp_1", "sum_1"}).node("log_1", "aten::log", {"sum_1"});
  task.output("exp_1").output("div_1").output("log_1").output("sum_1");
  for (const char* parameters : {"", " : split=2 lanes=1", " : threads=across"})
    EXPECT_RIGHT(task, fmt::format("//! fuse exp_1 sum_1 div_1 log_1{}\n", parameters));
}

TEST_F(Rows, GoesThroughViews) {
  TaskText task;
  task.input("x", {4, 6, 5}).node("tanh_1", "aten::tanh", {"x"}).node("view_1", "aten::view", {"tanh_1", {4, 2, 15}});
  task.node("softmax_1", "aten::softmax.int", {"view_1", 2}).node("t_1", "aten::transpose.int", {"softmax_1", 1, 2});
  task.node("flatten_1", "aten::reshape", {"t_1", {4, 30}}).node("neg_1", "aten::neg", {"t_1"}).output("neg_1");
  EXPECT_RIGHT(task, "//! fuse tanh_1 softmax_1 neg_1\n");
  TaskText moved;
  moved.input("x", {4, 9}).node("flip_1", "aten::flip", {"x", {1}});
  moved.node("pad_1", "aten::constant_pad_nd", {"flip_1", {1, 2}});
  moved.node("sum_1", "aten::sum.dim_IntList", {"pad_1", {1}}).output("sum_1");
  EXPECT_RIGHT(moved, "//! fuse flip_1 pad_1 sum_1\n");
}

TEST_F(Rows, ReductionsFollowEachOther) {
  TaskText task;
  task.input("x", {5, 20}).node("norm_1", "aten::layer_norm", {"x", {20}});
  task.node("softmax_1", "aten::softmax.int", {"norm_1", -1});
  task.node("sum_1", "aten::linalg_vector_norm", {"softmax_1", 2, {1}, true});
  task.node("div_1", "aten::div.Tensor", {"softmax_1", "sum_1"});
  task.output("div_1");
  for (const char* parameters : {"", " : keep=no", " : split=2 lanes=2"})
    EXPECT_RIGHT(task, fmt::format("//! fuse norm_1 softmax_1 sum_1 div_1{}\n", parameters));
}

//! [5] and [5, 1], of the same rows.
TEST_F(Rows, ResultsMayKeepReducedDimensionsOrNot) {
  TaskText task;
  task.input("x", {5, 20}).node("exp_1", "aten::exp", {"x"});
  task.node("sum_1", "aten::sum.dim_IntList", {"exp_1", json::array({1})});
  task.node("amax_1", "aten::amax", {"x", json::array({1}), true});
  task.output("sum_1").output("amax_1").output("exp_1");
  EXPECT_RIGHT(task, "//! fuse exp_1 sum_1 amax_1\n");
}

//! Squares of denormal numbers are zero in fp32, here and on any GPU, and so is a deviation: what is divided by it is
//! infinite or NaN, and that is no mistake of the program.
TEST_F(Rows, DividesByADeviation) {
  for (const char* op : {"std.correction", "std_mean.correction"}) {
    TaskText task;
    const json keep = {{"kwargs", {{"correction", 1}, {"keepdim", true}}}};
    task.input("x", {7, 33}).node("std_1", std::string("aten::") + op, {"x", json::array({1})}, keep);
    task.node("div_1", "aten::div.Tensor", {"x", "std_1"}).output("div_1");
    EXPECT_RIGHT(task, "//! fuse std_1 div_1\n");
    EXPECT_RIGHT(task, "//! fuse std_1\n");
    EXPECT_RIGHT(task, "//! fuse div_1\n");
  }
}

//! The task's own graph, too, is right: of equal numbers anything may come out.
TEST_F(Rows, StandardisesRowsWithoutAnEpsilon) {
  TaskText task;
  const json keep = {{"kwargs", {{"correction", 1}, {"keepdim", true}}}};
  task.input("x", {9, 37}).node("mean_1", "aten::mean.dim", {"x", json::array({1}), true});
  task.node("std_1", "aten::std.correction", {"x", json::array({1})}, keep);
  task.node("sub_1", "aten::sub.Tensor", {"x", "mean_1"}).node("div_1", "aten::div.Tensor", {"sub_1", "std_1"});
  task.output("div_1");
  EXPECT_RIGHT(task, "");
  EXPECT_RIGHT(task, "//! fuse mean_1 std_1 sub_1 div_1\n");
}

TEST_F(Rows, FewLongRowsAreSplit) {
  TaskText task;
  task.input("x", {3, 40000}).node("mean_1", "aten::mean.dim", {"x", {1}}).output("mean_1");
  const Verdict verdict = judged(task, "//! fuse mean_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_EQ(verdict.steps.size(), 2u);
}

TEST_F(Rows, IndexesBeyond32Bits) {
  TaskText task;
  task.input("x", {4, 1431655764}).node("sum_1", "aten::sum.dim_IntList", {"x", {1}}).output("sum_1");
  const Verdict verdict = planned(task, "//! fuse sum_1\n");
  EXPECT_EQ(verdict.status, "ok") << verdict.message;
  EXPECT_NE(verdict.code.find("unsigned long long k = "), std::string::npos) << verdict.code;
  TaskText small;
  small.input("x", {4, 64}).node("sum_1", "aten::sum.dim_IntList", {"x", {1}}).output("sum_1");
  EXPECT_EQ(planned(small, "//! fuse sum_1\n").code.find("long long"), std::string::npos);
}

TEST_F(Rows, RefusesWhatItCannotWrite) {
  TaskText task;
  task.input("x", {4, 6}).node("sum_1", "aten::sum.dim_IntList", {"x", {0}});
  task.node("sum_2", "aten::sum.dim_IntList", {"x", {1}});
  task.output("sum_1").output("sum_2");
  EXPECT_REFUSED(task, "//! fuse sum_1 sum_2\n", "fuse them apart");
  TaskText nested;
  nested.input("x", {4, 6}).node("sum_1", "aten::sum.dim_IntList", {"x", {1}});
  nested.node("max_1", "aten::amax", {"sum_1", {0}});
  nested.output("max_1");
  EXPECT_REFUSED(nested, "//! fuse sum_1 max_1\n", "different dimensions");
  TaskText outer;
  outer.input("x", {6, 6}).node("sum_1", "aten::sum.dim_IntList", {"x", {1}});
  outer.node("view_1", "aten::view", {"sum_1", {6, 1}});
  outer.node("add_1", "aten::add.Tensor", {"sum_1", "view_1"}).output("add_1");
  EXPECT_REFUSED(outer, "//! fuse sum_1 add_1\n", "each many times");
  TaskText apart;
  apart.input("x", {3, 4}, {{"strides", {5, 1}}}).node("sum_1", "aten::sum.dim_IntList", {"x", {1}}).output("sum_1");
  EXPECT_REFUSED(apart, "//! fuse sum_1 : vector=4\n", "start at a multiple of 4");
  TaskText weighted;
  weighted.input("x", {4, 6});
  weighted.input("t", {4}, {{"dtype", "i64"}, {"draw", {{"kind", "integers"}, {"low", 0}, {"high", 6}}}});
  weighted.weight("w", {6}).node("cross_entropy_loss_1", "aten::cross_entropy_loss", {"x", "t", "w"});
  weighted.output("cross_entropy_loss_1");
  EXPECT_REFUSED(weighted, "//! fuse cross_entropy_loss_1\n", "'cross_entropy_loss_1' cannot be fused: it has weights");
  EXPECT_REFUSED(softmax_of({4, 6}, 1), "//! fuse mul_1 softmax_1 add_1 : split=64\n", "split=64");
  EXPECT_REFUSED(softmax_of({4, 6}, 1), "//! fuse mul_1 softmax_1 add_1 : vector=4\n", "vector=4 does not divide");
  EXPECT_REFUSED(softmax_of({8, 6}, 0), "//! fuse mul_1 softmax_1 add_1 : threads=along vector=8\n", "side by side in");
  EXPECT_REFUSED(softmax_of({4, 6000}, 1), "//! fuse mul_1 softmax_1 add_1 : lanes=32 keep=yes\n", "keep=yes");
  EXPECT_REFUSED(softmax_of({4, 600}, 1), "//! fuse mul_1 softmax_1 add_1 : keep=yes split=2\n", "split is 2");
  EXPECT_REFUSED(softmax_of({40, 6}, 0), "//! fuse mul_1 softmax_1 add_1 : threads=across lanes=64\n", "lanes=64");
}

}  // namespace
}  // namespace cudal1::testing
