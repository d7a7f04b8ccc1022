#include "graph/inputs.hpp"

#include <algorithm>
#include <cmath>

#include "tensor_helpers.hpp"

namespace cudal1 {
namespace {

using testing::expect_same;
using testing::make_task;
using testing::message_of;
using testing::one_input;
using testing::TestFolder;

const char* relu = R"({"name": "n", "op": "aten::relu", "args": ["x"]})";

Task task_with(const std::string& dtype, const std::string& shape) {
  return make_task(one_input(dtype, shape), relu, R"("n")");
}

at::Tensor draw(const Task& task, Distribution distribution, std::uint64_t seed = 3) {
  TensorTable table;
  draw_inputs(task, distribution, seed, at::kCPU, table);
  return table.at(0);
}

Task task_with_draw(const std::string& dtype, const std::string& body) {
  return make_task(R"("inputs": [{"name": "x", "dtype": ")" + dtype + R"(", "shape": [10000], "draw": )" + body + "}]",
                   relu, R"("n")");
}

TEST(DrawInputs, SameSeedSameTensorOtherSeedAnother) {
  const Task task = task_with("f32", "[100]");
  expect_same(draw(task, Distribution::native, 5), draw(task, Distribution::native, 5));
  EXPECT_FALSE(at::equal(draw(task, Distribution::native, 5), draw(task, Distribution::native, 6)));
}

TEST(DrawInputs, InputsOfOneTaskDifferFromEachOtherAndFromWeights) {
  const Task task = make_task(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [9], "draw": {"kind": "normal"}},
      {"name": "y", "dtype": "f32", "shape": [9], "draw": {"kind": "normal"}}],
      "weights": [{"name": "w", "dtype": "f32", "shape": [9], "draw": {"kind": "normal"}}])",
                              relu, R"("n")");
  const TensorTable table = testing::draw_leaves(task);
  EXPECT_FALSE(at::equal(table[0], table[1]));
  EXPECT_FALSE(at::equal(table[0], table[2]));
}

TEST(DrawInputs, EachKindHasItsDistribution) {
  const at::Tensor normal =
      draw(task_with_draw("f32", R"({"kind": "normal", "mean": 3, "std": 2})"), Distribution::native);
  EXPECT_NEAR(normal.mean().item<double>(), 3, 0.1);
  EXPECT_NEAR(normal.std().item<double>(), 2, 0.1);
  const at::Tensor uniform =
      draw(task_with_draw("bf16", R"({"kind": "uniform", "low": -1, "high": 3})"), Distribution::native);
  EXPECT_GE(uniform.min().item<double>(), -1);
  EXPECT_LE(uniform.max().item<double>(), 3);
  EXPECT_NEAR(uniform.to(at::kFloat).mean().item<double>(), 1, 0.1);
  for (const char* dtype : {"i64", "u8", "f32"}) {
    const at::Tensor integers =
        draw(task_with_draw(dtype, R"({"kind": "integers", "low": 2, "high": 5})"), Distribution::native);
    EXPECT_EQ(integers.min().item<double>(), 2);
    EXPECT_EQ(integers.max().item<double>(), 4);
  }
  const at::Tensor coins = draw(task_with_draw("bool", R"({"kind": "bernoulli", "p": 0.25})"), Distribution::native);
  EXPECT_NEAR(coins.to(at::kFloat).mean().item<double>(), 0.25, 0.03);
  expect_same(draw(task_with_draw("f16", R"({"kind": "constant", "value": 7})"), Distribution::native),
              at::full({10000}, 7, at::kHalf));
}

TEST(DrawInputs, StridesAreRespected) {
  const Task task = make_task(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [4, 6], "strides": [1, 8],
      "draw": {"kind": "normal"}}])",
                              relu, R"("n")");
  for (const Distribution distribution : distributions_of(task))
    EXPECT_EQ(draw(task, distribution).strides().vec(), (std::vector<std::int64_t>{1, 8}));
}

TEST(Distributions, AreDerivedFromTheNativeDraw) {
  for (const char* dtype : {"f32", "f16", "bf16", "f64"}) {
    const Task task = task_with(dtype, "[50, 100]");
    const at::Tensor native = draw(task, Distribution::native);
    expect_same(draw(task, Distribution::scaled), native * (std::string(dtype) == "f16" ? 16 : 64));
    expect_same(draw(task, Distribution::tiny), native * 0x1p-10);
    expect_same(draw(task, Distribution::negative), -native.abs());
    const at::Tensor constant = draw(task, Distribution::constant);
    expect_same(constant, native.narrow(-1, 0, 1).expand_as(native).contiguous());
  }
}

TEST(Distributions, InputsOfOneSignAreAlsoCentred) {
  const auto offers_centred = [](const char* body) {
    const auto offered = distributions_of(task_with_draw("f32", body));
    return std::find(offered.begin(), offered.end(), Distribution::centred) != offered.end();
  };
  EXPECT_TRUE(offers_centred(R"({"kind": "uniform"})"));
  EXPECT_TRUE(offers_centred(R"({"kind": "normal", "mean": 5})"));
  EXPECT_FALSE(offers_centred(R"({"kind": "uniform", "low": -1, "high": 1})"));
  EXPECT_FALSE(offers_centred(R"({"kind": "normal"})"));
  const Task task = make_task(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [4], "draw": {"kind": "uniform"},
      "exclude": ["negative"]}])",
                              relu, R"("n")");
  EXPECT_EQ(distributions_of(task).size(), 6u);

  const Task uniform = task_with_draw("f32", R"({"kind": "uniform", "low": 2, "high": 6})");
  expect_same(draw(uniform, Distribution::centred), draw(uniform, Distribution::native) - 4.0);
  const Task normal = task_with_draw("f32", R"({"kind": "normal", "mean": 5, "std": 2})");
  expect_same(draw(normal, Distribution::centred), draw(normal, Distribution::native) - 5.0);
}

TEST(Distributions, SpikesAreFewAndLarge) {
  const Task task = task_with("f32", "[50, 100]");
  const at::Tensor native = draw(task, Distribution::native), spiked = draw(task, Distribution::spiked);
  const at::Tensor changed = native.ne(spiked);
  EXPECT_GE(changed.sum().item<int>(), 1);
  EXPECT_LE(changed.sum().item<int>(), 5 + 2 * 4 + 1);
  expect_same(spiked.masked_select(changed).abs(), native.masked_select(changed).abs() * 100);
  expect_same(spiked[-1][-1], native[-1][-1].abs() * 100);
  const Task small = task_with("f32", "[3]");
  EXPECT_EQ(draw(small, Distribution::native).ne(draw(small, Distribution::spiked)).sum().item<int>(), 1);
}

TEST(Distributions, SpikesAreAtTheEndOfEveryLongDimension) {
  for (const char* dtype : {"f32", "f16"}) {
    const Task task = task_with(dtype, "[64, 3, 400]");
    const at::Tensor native = draw(task, Distribution::native), spiked = draw(task, Distribution::spiked);
    const at::Tensor changed = native.ne(spiked);
    EXPECT_GE(changed.select(2, 399).sum().item<int>(), 3);
    EXPECT_GE(changed.select(0, 63).sum().item<int>(), 3);
    EXPECT_LT(changed.select(1, 2).sum().item<int>(), 40 + 4 + 4 + 1);  // of three there is no tail
    EXPECT_TRUE(changed[-1][-1][-1].item<bool>());
    EXPECT_TRUE(spiked.isfinite().all().item<bool>());
    EXPECT_LE(spiked.abs().max().item<double>(), 101.0 * native.abs().max().item<double>());
  }
}

TEST(Distributions, DenormalsLieOnBothSidesOfTheSmallestNormal) {
  const std::vector<std::pair<const char*, double>> smallest{
      {"f32", 0x1p-126}, {"bf16", 0x1p-126}, {"f16", 0x1p-14}, {"f64", 0x1p-1022}};
  for (const auto& [dtype, limit] : smallest) {
    const at::Tensor magnitude = draw(task_with(dtype, "[1000]"), Distribution::denormal).to(at::kDouble).abs();
    EXPECT_GT(magnitude.lt(limit).logical_and(magnitude.gt(0)).sum().item<int>(), 100) << dtype;
    EXPECT_GT(magnitude.ge(limit).sum().item<int>(), 100) << dtype;
    EXPECT_LT(magnitude.max().item<double>(), 8 * limit) << dtype;
  }
}

TEST(Distributions, IntegersMasksAndConstantsKeepTheirNativeDraw) {
  for (const auto& [dtype, body] : std::vector<std::pair<const char*, const char*>>{
           {"i64", R"({"kind": "integers", "low": 0, "high": 9})"}, {"f32", R"({"kind": "bernoulli", "p": 0.5})"}}) {
    const Task task = task_with_draw(dtype, body);
    EXPECT_EQ(distributions_of(task), std::vector<Distribution>{Distribution::native});
    expect_same(draw(task, Distribution::negative), draw(task, Distribution::native));
  }
}

TEST(Distributions, ExcludedOnesAreNotOffered) {
  EXPECT_EQ(distributions_of(task_with("f32", "[2]")).size(), 7u);
  const Task task = make_task(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [4], "draw": {"kind": "normal"},
      "exclude": ["negative", "scaled"]}])",
                              relu, R"("n")");
  EXPECT_EQ(distributions_of(task),
            (std::vector<Distribution>{Distribution::native, Distribution::tiny, Distribution::constant,
                                       Distribution::spiked, Distribution::denormal}));
  EXPECT_EQ(to_string(Distribution::native), "native");
  EXPECT_EQ(to_string(Distribution::denormal), "denormal");
}

TEST(DrawInputs, ComputedInputsKeepTheirMeaningInEveryDistribution) {
  const Task task = make_task(
      R"("input_graph": {"inputs": [{"name": "a", "dtype": "f32", "shape": [50, 50], "draw": {"kind": "uniform"}}],
          "nodes": [{"name": "t", "op": "aten::triu", "args": ["a"]},
                    {"name": "p", "op": "aten::softmax.int", "args": ["a", -1]}], "outputs": ["t", "p", "a"]},
         "inputs": [{"name": "x", "dtype": "f32", "shape": [50, 50], "strides": [1, 50], "draw": {"kind": "computed", "output": 0}},
                    {"name": "y", "dtype": "f32", "shape": [50, 50], "draw": {"kind": "computed", "output": 1}},
                    {"name": "z", "dtype": "f32", "shape": [50, 50], "draw": {"kind": "computed", "output": 2}}])",
      relu, R"("n")");
  EXPECT_EQ(distributions_of(task).size(), 8u);  // all of them: what is drawn is continuous and positive
  for (const Distribution distribution : distributions_of(task)) {
    TensorTable table;
    draw_inputs(task, distribution, 3, at::kCPU, table);
    expect_same(table[0], table[2].triu());
    EXPECT_EQ(table[0].stride(0), 1);
    EXPECT_TRUE(at::allclose(table[1].sum(-1), at::ones({50})));
  }
  EXPECT_LT(draw(task, Distribution::negative).triu(1).max().item<double>(), 1e-30);
}

TEST(DrawInputs, TheSameTensorTwiceIsDrawnOnce) {
  const Task task = make_task(
      R"("input_graph": {"inputs": [{"name": "a", "dtype": "f32", "shape": [50], "draw": {"kind": "uniform"}}],
          "nodes": [], "outputs": ["a"]},
         "inputs": [{"name": "x", "dtype": "f32", "shape": [50], "draw": {"kind": "computed", "output": 0}},
                    {"name": "y", "dtype": "f32", "shape": [50], "draw": {"kind": "computed", "output": 0}}])",
      relu, R"("n")");
  TensorTable table;
  draw_inputs(task, Distribution::native, 3, at::kCPU, table);
  expect_same(table[0], table[1]);
  EXPECT_NE(table[0].data_ptr(), table[1].data_ptr());
}

TEST(DrawInputs, ARecipeThatMakesAnotherShapeIsAnError) {
  const Task task = make_task(
      R"("input_graph": {"inputs": [{"name": "a", "dtype": "f32", "shape": [5], "draw": {"kind": "uniform"}}],
          "nodes": [{"name": "t", "op": "aten::exp", "args": ["a"]}], "outputs": ["t"]},
         "inputs": [{"name": "x", "dtype": "f32", "shape": [4], "draw": {"kind": "computed", "output": 0}}])",
      relu, R"("n")");
  EXPECT_EQ(message_of([&] { draw(task, Distribution::native); }),
            "the input \"x\" is computed as Float[5], not as f32[4]");
}

TEST(DrawWeights, FreshOnesComeFromTheirFileWhereThereIsOne) {
  const TestFolder folder;
  const char* header = R"({"w": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}})";
  folder.write("w", testing::safetensors_bytes(header, std::string("\x01\x02")));
  folder.write("f", testing::safetensors_bytes(header, std::string("\x07\x08")));
  const Task task = parse_task(testing::task_text(R"("weights_file": "w", "fresh_weights_file": "f", "weights": [
      {"name": "w", "dtype": "u8", "shape": [2], "key": "w"}])",
                                                  R"({"name": "n", "op": "aten::relu", "args": ["w"]})", R"("n")"),
                               folder.path());
  TensorTable stored, fresh;
  draw_weights(task, 1, false, at::kCPU, stored);
  draw_weights(task, 1, true, at::kCPU, fresh);
  expect_same(stored[0], at::tensor({1, 2}, at::kByte));
  expect_same(fresh[0], at::tensor({7, 8}, at::kByte));
}

TEST(DrawWeights, FilesAreReadAsTheyAreAndPermutedWhenFresh) {
  const TestFolder folder;
  std::string data;
  for (int i = 0; i < 64; ++i) data.push_back(static_cast<char>(i));
  folder.write("w",
               testing::safetensors_bytes(R"({"w": {"dtype": "U8", "shape": [8, 8], "data_offsets": [0, 64]}})", data));
  const Task task = parse_task(testing::task_text(R"("weights_file": "w", "weights": [
      {"name": "w", "dtype": "u8", "shape": [8, 8], "key": "w", "strides": [1, 8]}])",
                                                  R"({"name": "n", "op": "aten::relu", "args": ["w"]})", R"("n")"),
                               folder.path());
  TensorTable stored, fresh;
  draw_weights(task, 1, false, at::kCPU, stored);
  draw_weights(task, 1, true, at::kCPU, fresh);
  expect_same(stored[0], at::arange(64, at::kByte).view({8, 8}));
  EXPECT_FALSE(at::equal(stored[0], fresh[0]));
  expect_same(std::get<0>(fresh[0].flatten().sort()), at::arange(64, at::kByte));
  folder.write("w", testing::safetensors_bytes("{}", ""));
  EXPECT_EQ(message_of([&] { draw_weights(task, 1, false, at::kCPU, stored); }),
            (folder.path() / "w").string() + ": the tensor \"w\" has gone or changed");
}

TEST(DrawWeights, FreshWeightsDifferUnderTheSameSeed) {
  const Task task = make_task(R"("weights": [{"name": "w", "dtype": "f32", "shape": [9], "draw": {"kind": "normal"}}])",
                              R"({"name": "n", "op": "aten::relu", "args": ["w"]})", R"("n")");
  TensorTable first, fresh;
  draw_weights(task, 1, false, at::kCPU, first);
  draw_weights(task, 1, true, at::kCPU, fresh);
  EXPECT_FALSE(at::equal(first[0], fresh[0]));
}

}  // namespace
}  // namespace cudal1
