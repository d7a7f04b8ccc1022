#include "device/vgpu/model/op_model.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"
#include "device/vgpu/model/gpu_files.hpp"
#include "device/vgpu/model/l2_contents.hpp"
#include "device/vgpu/model/prediction.hpp"
#include "made_up_kernels.hpp"

namespace cudal1::vgpu {
namespace {

TensorMeta tensor(std::vector<std::int64_t> sizes, DType dtype = DType::f32) {
  TensorMeta meta{dtype, sizes, contiguous_strides(sizes)};
  return meta;
}

OpWork work(const std::string& op, std::vector<TensorMeta> inputs, std::vector<TensorMeta> outputs,
            std::vector<Argument> args = {}) {
  Node node;
  node.op = op;
  node.args = std::move(args);
  return work_of(node, inputs, outputs);
}

const GpuProfile h200 = find_profile("h200");

OpEstimate estimate(const std::string& op, std::vector<TensorMeta> inputs, std::vector<TensorMeta> outputs) {
  Node node;
  node.op = op;
  return estimate_op(h200, load_op_table(), node, inputs, outputs);
}

TEST(OpWork, ProductsHaveTwoOperationsForEachTerm) {
  const double expected = 2.0 * 128 * 64 * 256;
  EXPECT_EQ(work("aten::mm", {tensor({128, 256}), tensor({256, 64})}, {tensor({128, 64})}).flops, expected);
  EXPECT_EQ(work("aten::linear", {tensor({128, 256}), tensor({64, 256}), tensor({64})}, {tensor({128, 64})}).flops,
            expected);
  EXPECT_EQ(work("aten::addmm", {tensor({64}), tensor({128, 256}), tensor({256, 64})}, {tensor({128, 64})}).flops,
            expected);
  EXPECT_EQ(work("aten::bmm", {tensor({8, 128, 256}), tensor({8, 256, 64})}, {tensor({8, 128, 64})}).flops,
            8 * expected);
}

TEST(OpWork, ConvolutionsAreToldApart) {
  const TensorMeta x = tensor({2, 16, 32, 32}), y = tensor({2, 8, 30, 30});
  const OpWork plain = work("aten::conv2d", {x, tensor({8, 16, 3, 3})}, {y});
  EXPECT_EQ(plain.op_class, "convolution");
  EXPECT_EQ(plain.flops, 2.0 * 2 * 8 * 30 * 30 * 16 * 9);
  const OpWork transposed = work("aten::conv_transpose2d", {y, tensor({8, 16, 3, 3})}, {x});
  EXPECT_EQ(transposed.op_class, "convolution_transposed");
  EXPECT_EQ(transposed.flops, plain.flops);
  EXPECT_EQ(work("aten::conv2d", {x, tensor({16, 1, 3, 3})}, {tensor({2, 16, 30, 30})}).op_class,
            "convolution_depthwise");
  const TensorMeta volume = tensor({2, 16, 8, 8, 8}), kernel = tensor({16, 4, 3, 3, 3});
  const std::vector<std::int64_t> ones{1, 1, 1};
  EXPECT_EQ(work("aten::convolution", {volume, kernel}, {volume},
                 {ValueRef{0}, ValueRef{1}, NoArgument{}, ones, ones, ones, true, ones, std::int64_t{1}})
                .op_class,
            "convolution_transposed_3d");
}

TEST(OpWork, AttentionIsTwoProducts) {
  const TensorMeta q = tensor({2, 4, 128, 64}), kv = tensor({2, 4, 256, 64});
  EXPECT_EQ(work("aten::scaled_dot_product_attention", {q, kv, kv}, {q}).flops, 2.0 * 2 * 2 * 4 * 128 * 256 * 64);
}

TEST(OpWork, ViewsAreFreeAndCopiesAreNot) {
  const TensorMeta rows = tensor({100, 200});
  TensorMeta columns = tensor({200, 100});
  columns.strides = {1, 200};
  EXPECT_EQ(work("aten::t", {rows}, {columns}).op_class, "view");
  EXPECT_EQ(work("aten::reshape", {rows}, {tensor({20000})}).op_class, "view");
  EXPECT_EQ(work("aten::reshape", {columns}, {tensor({20000})}).op_class, "strided_copy");
  EXPECT_EQ(work("aten::contiguous", {columns}, {tensor({200, 100})}).op_class, "strided_copy");
  EXPECT_EQ(estimate("aten::t", {rows}, {columns}).milliseconds, 0);
}

TEST(OpWork, ExpandedTensorsAreReadOnce) {
  TensorMeta expanded = tensor({1000, 512});
  expanded.strides = {0, 1};
  EXPECT_EQ(work("aten::add.Tensor", {expanded, tensor({1000, 512})}, {tensor({1000, 512})}).bytes_read,
            4.0 * 512 + 4.0 * 512000);
}

TEST(OpWork, TheNameDecidesWithItsArguments) {
  const TensorMeta x = tensor({64, 64});
  EXPECT_EQ(work("aten::max.dim", {x}, {tensor({64}), tensor({64}, DType::i64)}).op_class, "reduction_with_index");
  EXPECT_EQ(work("aten::max.other", {x, x}, {x}).op_class, "pointwise");
  EXPECT_EQ(work("aten::something_new", {x}, {x}).op_class, "other");
  const std::vector<Argument> training{ValueRef{0}, ValueRef{1}, ValueRef{2}, ValueRef{3}, ValueRef{4}, true};
  EXPECT_EQ(work("aten::batch_norm", {x}, {x}, training).op_class, "batch_norm_train");
  EXPECT_EQ(work("aten::batch_norm", {x}, {x}).op_class, "batch_norm");
}

TEST(OpEstimates, BytesOrOperationsBound) {
  const TensorMeta large = tensor({8192, 8192});
  EXPECT_EQ(estimate("aten::relu", {large}, {large}).bound, "DRAM bandwidth");
  EXPECT_EQ(estimate("aten::mm", {large, large}, {large}).bound, "fp32");
  EXPECT_EQ(estimate("aten::relu", {tensor({64})}, {tensor({64})}).bound, "launch");
  const TensorMeta half = tensor({8192, 8192}, DType::bf16);
  EXPECT_EQ(estimate("aten::mm", {half, half}, {half}).bound, "tensor cores");
}

//! 51 TFLOP/s in fp32 was measured.
TEST(OpEstimates, ALargeProductTakesWhatWasMeasured) {
  const TensorMeta large = tensor({8192, 8192});
  EXPECT_NEAR(estimate("aten::mm", {large, large}, {large}).milliseconds, 2.0 * 8192 * 8192 * 8192 / 51e12 * 1e3, 1.0);
}

TEST(OpEstimates, WhatIsInL2IsReadFaster) {
  Node node;
  node.op = "aten::relu";
  const std::vector<TensorMeta> x{tensor({2048, 1024})};
  const OpTable table = load_op_table();
  EXPECT_LT(estimate_op(h200, table, node, x, x, 8e6).milliseconds, estimate_op(h200, table, node, x, x).milliseconds);
}

//! The two models must not take sides: what moves the same bytes is equally fast, whoever wrote it, whatever L2 holds.
TEST(OpEstimates, APlainKernelAndTheLibraryMoveTheSameBytesInTheSameTime) {
  Node node;
  node.op = "aten::relu";
  for (const std::string& name : profile_names())
    for (const std::int64_t megabytes : {16, 64, 256}) {
      const GpuProfile gpu = find_profile(name);
      const std::vector<TensorMeta> x{tensor({megabytes << 18})};
      const std::uint64_t bytes = static_cast<std::uint64_t>(megabytes) << 20;
      const MadeUpKernel kernel = made_up_copy(static_cast<std::uint32_t>(bytes / 4096), bytes);
      const KernelPrediction own = predict(gpu, kernel.shape, kernel.counters);
      const OpEstimate library = estimate_op(gpu, load_op_table(), node, x, x);
      EXPECT_DOUBLE_EQ(library.dram_bytes, own.traffic.dram()) << name << ", " << megabytes << " MB";
      EXPECT_NEAR(library.milliseconds / own.milliseconds, 1, 0.05) << name << ", " << megabytes << " MB";
    }
}

TEST(OpEstimates, ErrorsOfTheTableNameThePlace) try {
  std::string text(embedded_gpu_files().at("ops"));
  const std::string good = "\"bandwidth\": 1.0";
  parse_op_table(text.replace(text.find(good), good.size(), "\"bandwidth\": 97"), "ops.json");
  FAIL() << "no error";
} catch (const Error& error) {
  EXPECT_STREQ(error.what(), "ops.json: classes.pointwise.bandwidth: expected more than 0 and at most 1, found 97");
}

TEST(L2, KeepsWhatWasUsedLast) {
  L2Contents l2(h200);
  l2.use("a", 20e6);
  l2.use("b", 20e6);
  EXPECT_EQ(l2.cached("a"), 20e6);
  l2.use("c", 20e6);
  EXPECT_EQ(l2.cached("c"), 20e6);
  EXPECT_EQ(l2.cached("b"), 20e6);
  EXPECT_LT(l2.cached("a"), 20e6);
  l2.use("d", 1e9);
  EXPECT_EQ(l2.cached("c"), 0);
  EXPECT_EQ(l2.cached("never"), 0);
  l2.use("c", 10e6);
  EXPECT_EQ(l2.cached("c"), 10e6);
  l2.use("c", 0);
  EXPECT_EQ(l2.cached("c"), 0);
  l2.use("e", 1e6);
  EXPECT_GT(l2.cached("d"), 0) << "a part of it stays";
}

}  // namespace
}  // namespace cudal1::vgpu
