// The convolution kernel, run by the virtual GPU, against ATen's on the processor.
#include "judge/convolution_walk.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "convolutions_on_vgpu.hpp"

namespace cudal1 {
namespace {

using testing::by_operator, testing::convolution_cases, testing::ConvolutionCase, testing::drawn, testing::expect_close,
    testing::infinity, testing::not_a_number;

class ConvolutionWalk : public testing::ConvolutionsOnVgpu {};

TEST_F(ConvolutionWalk, ComputesWhatTheOperatorDoes) {
  for (const ConvolutionCase& shape : convolution_cases()) {
    const Convolution convolution = drawn(shape);
    ASSERT_TRUE(can_walk(convolution)) << shape.name;
    expect_close(convolved(*device_, convolution), by_operator(convolution), shape.name);
  }
  EXPECT_EQ(launches(), convolution_cases().size() - 1) << "there is nothing to do without images";
}

//! Small enough for the virtual GPU. Some have no result.
ConvolutionCase any_case(Random& random) {
  const auto from_to = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  ConvolutionCase any{.groups = from_to(1, 3), .transposed = from_to(0, 1) == 1, .bias = from_to(0, 1) == 1};
  const std::int64_t inputs = from_to(1, 10), outputs = from_to(1, 20);
  any.input = {from_to(1, 3), inputs * any.groups};
  any.weight = any.transposed ? std::vector{inputs * any.groups, outputs} : std::vector{outputs * any.groups, inputs};
  for (std::int64_t dimensions = from_to(1, 3); dimensions > 0; --dimensions) {
    any.input.push_back(from_to(1, 7));
    any.weight.push_back(from_to(1, 4));
    any.stride.push_back(from_to(1, 4));
    any.padding.push_back(from_to(0, 3));
    any.dilation.push_back(from_to(1, 4));
    const std::int64_t most = std::max(any.stride.back(), any.dilation.back()) - 1;
    any.output_padding.push_back(any.transposed ? from_to(0, most) : 0);
  }
  return any;
}

TEST_F(ConvolutionWalk, ComputesWhateverTheOperatorComputes) {
  Random random(7);
  std::uint64_t walked = 0;
  for (int i = 0; i < 300; ++i) {
    const Convolution convolution = drawn(any_case(random));
    const std::vector<std::int64_t> sizes = convolution.result_sizes();
    const bool has_result = std::ranges::all_of(sizes, [](std::int64_t size) { return size > 0; });
    EXPECT_EQ(can_walk(convolution), has_result) << i;
    if (!has_result) continue;
    expect_close(convolved(*device_, convolution), by_operator(convolution), std::to_string(i));
    EXPECT_EQ(launches(), ++walked);
  }
  EXPECT_GT(walked, 100u);
}

TEST_F(ConvolutionWalk, TakesAsManyChannelsAThreadAsGroupsHave) {
  const auto kernel_for = [&](std::int64_t outputs) {
    convolved(*device_, drawn({.input = {1, 2, 4}, .weight = {outputs, 1, 2}, .groups = 2}));
    return device_->last_kernel();
  };
  EXPECT_EQ(kernel_for(2), "convolution<1>");
  EXPECT_EQ(kernel_for(6), "convolution<4>");
  EXPECT_EQ(kernel_for(10), "convolution<8>");
}

TEST_F(ConvolutionWalk, IsTheSameHoweverManyBlocksShareTheWork) {
  const Convolution convolution =
      drawn({.input = {3, 9, 30, 31}, .weight = {9, 18, 2, 2}, .stride = {2, 2}, .transposed = true});
  const at::Tensor found = convolved(*device_, convolution);
  testing::VgpuWalkDevice many(1000);
  EXPECT_TRUE(found.equal(convolved(many, convolution)));
  expect_close(found, by_operator(convolution), "transposed");
}

TEST_F(ConvolutionWalk, ReadsOperandsOfAnyStrides) {
  Convolution convolution = drawn({.input = {2, 6, 8, 9}, .weight = {10, 3, 3, 3}, .groups = 2});
  const at::Tensor wanted = by_operator(convolution);
  convolution.input = convolution.input.contiguous(at::MemoryFormat::ChannelsLast);
  convolution.weight = convolution.weight.contiguous(at::MemoryFormat::ChannelsLast);
  convolution.bias = at::stack({convolution.bias, convolution.bias}, 1).select(1, 0);
  ASSERT_FALSE(convolution.input.is_contiguous() || convolution.bias.is_contiguous());
  expect_close(convolved(*device_, convolution), wanted, "channels last");
}

TEST_F(ConvolutionWalk, PassesOnWhatIsNotFiniteToWhatReadsIt) {
  Convolution convolution = drawn({.input = {1, 2, 9, 9}, .weight = {3, 2, 3, 3}, .stride = {2, 2}, .padding = {1, 1}});
  convolution.input[0][1][0][4] = infinity;
  convolution.input[0][0][8][8] = not_a_number;
  expect_close(convolved(*device_, convolution), by_operator(convolution), "specials");
  convolution.weight[0][0][0][0] = infinity;
  EXPECT_FALSE(can_walk(convolution)) << "times padding it is NaN, or left out";
}

TEST_F(ConvolutionWalk, LeavesToTheOperatorWhatItDoesNotKnow) {
  const auto known = [] { return drawn({.input = {2, 4, 9}, .weight = {6, 2, 3}, .groups = 2}); };
  ASSERT_TRUE(can_walk(known()));
  const auto walks_when = [&](auto change) {
    Convolution convolution = known();
    change(convolution);
    return can_walk(convolution);
  };
  EXPECT_FALSE(walks_when([](Convolution& of) { of.input = of.input.to(at::kFloat); }));
  EXPECT_FALSE(walks_when([](Convolution& of) { of.weight = of.weight.to(at::kComplexDouble); }));
  EXPECT_FALSE(walks_when([](Convolution& of) { of.input = of.input[0]; })) << "without images";
  EXPECT_FALSE(walks_when([](Convolution& of) { of.input = of.input.slice(1, 0, 3); })) << "too few channels";
  EXPECT_FALSE(walks_when([](Convolution& of) { of.bias = of.bias.slice(0, 1); }));
  EXPECT_FALSE(walks_when([](Convolution& of) { of.groups = 4; }));
  EXPECT_FALSE(walks_when([](Convolution& of) { of.dilation = {8}; })) << "the kernel is larger than the input";
  EXPECT_FALSE(walks_when([](Convolution& of) { of.stride = {0}; }));
  EXPECT_FALSE(walks_when([](Convolution& of) { of.stride = {1, 1}; }));
  EXPECT_FALSE(walks_when([](Convolution& of) { of.stride = {std::int64_t{1} << 33}; })) << "beyond 32 bits";
}

TEST(ConvolvedElements, AreThoseOfTheOperator) {
  for (const ConvolutionCase& shape : convolution_cases()) {
    const Convolution convolution = drawn(shape);
    const at::Tensor wanted = by_operator(convolution).flatten();
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < wanted.numel(); i += 1 + wanted.numel() / 50) indices.push_back(i);
    if (indices.empty()) continue;
    const ConvolvedElements elements = convolved_elements(convolution, indices);
    expect_close(elements.values, wanted.index({at::tensor(indices, at::kLong)}), shape.name);
    EXPECT_TRUE(elements.sizes.ge(elements.values.abs() * (1.0 - 1e-12)).all().item<bool>()) << shape.name;
  }
}

}  // namespace
}  // namespace cudal1
