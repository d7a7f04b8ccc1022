// Convolutions of the oracle, by the kernel on the virtual GPU, against those of operators.
#include "judge/oracle_convolutions.hpp"

#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "convolutions_on_vgpu.hpp"
#include "graph/inputs.hpp"

namespace cudal1 {
namespace {

using testing::expect_close;

//! Is off by a little, at some elements: the first, and those at so many steps from it.
class WrongWalkDevice : public WalkDevice {
 public:
  WrongWalkDevice(std::shared_ptr<WalkDevice> right, std::uint64_t first, std::uint64_t step)
      : right_(std::move(right)), first_(first), step_(step) {}
  std::uint32_t most_blocks() const override { return right_->most_blocks(); }

 private:
  void run(const std::string& kernel, std::uint32_t blocks, std::span<const WalkArgument> arguments) override {
    right_->launch(kernel, blocks, arguments);
    const WalkArgument& output = arguments[3];
    auto* elements = reinterpret_cast<double*>(output.bits);  // NOLINT: an address of the host
    for (std::uint64_t i = first_; i < output.bytes / sizeof(double); i += step_) elements[i] += 1e-9;
  }

  std::shared_ptr<WalkDevice> right_;
  std::uint64_t first_, step_;
};

//! Is right, and takes longer than any operator here.
class SlowWalkDevice : public WalkDevice {
 public:
  explicit SlowWalkDevice(std::shared_ptr<WalkDevice> right) : right_(std::move(right)) {}
  std::uint32_t most_blocks() const override { return right_->most_blocks(); }

 private:
  void run(const std::string& kernel, std::uint32_t blocks, std::span<const WalkArgument> arguments) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    right_->launch(kernel, blocks, arguments);
  }

  std::shared_ptr<WalkDevice> right_;
};

//! Channels last, to which a view of the first convolution's result holds.
Task convolving_task() {
  Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t", "inputs": [
      {"name": "x", "dtype": "f32", "shape": [2, 4, 9, 8], "strides": [288, 1, 32, 4], "draw": {"kind": "normal"}}],
      "weights": [
      {"name": "w", "dtype": "f32", "shape": [6, 2, 3, 3], "draw": {"kind": "normal"}},
      {"name": "b", "dtype": "f32", "shape": [6], "draw": {"kind": "normal"}},
      {"name": "v", "dtype": "f32", "shape": [6, 3, 3, 2], "draw": {"kind": "normal"}}], "nodes": [
      {"name": "c", "op": "aten::conv2d", "args": ["x", "w", "b", 2, [1, 1], 1, 2]},
      {"name": "p", "op": "aten::permute", "args": ["c", [0, 2, 3, 1]]},
      {"name": "q", "op": "aten::view", "args": ["p", [40, 6]]},
      {"name": "r", "op": "aten::relu", "args": ["c"]},
      {"name": "t", "op": "aten::conv_transpose2d.input", "args": ["r", "v", null, [2, 1]]},
      {"name": "u", "op": "aten::convolution", "args": ["r", "v", null, [2, 1], [0, 0], [1, 1], true, [1, 0], 1]},
      {"name": "s", "op": "aten::conv2d.padding", "args": ["x", "w", null, 1, {"string": "same"}, 1, 2]}],
      "outputs": ["q", "t", "u", "s"]})",
                         {});
  infer_metas(task);
  return task;
}

class OracleConvolution : public testing::ConvolutionsOnVgpu {
 protected:
  void SetUp() override {
    ConvolutionsOnVgpu::SetUp();
    task_ = convolving_task();
    draw_inputs(task_, Distribution::native, 1, at::kCPU, leaves_);
    draw_weights(task_, 2, false, at::kCPU, leaves_);
  }

  std::vector<at::Tensor> run(const Substitute& substitute) const {
    return Executor(task_.graph, {.fp64 = true, .substitute = substitute}).run(leaves_).outputs;
  }

  Task task_;
  TensorTable leaves_;
};

Substitute calling(OracleConvolutions& convolutions) {
  return [&](const Node& node, const AtenCall& call, const TensorTable& values) {
    return convolutions(node, call, values);
  };
}

TEST_F(OracleConvolution, IsComputedByTheWalk) {
  OracleConvolutions convolutions(task_.graph, [&](const at::Tensor&) { return device_; },
                                  OracleConvolutions::Choice::the_walk);
  const std::vector<at::Tensor> wanted = run({}), found = run(calling(convolutions));
  EXPECT_EQ(launches(), 3u) << "of four, since one is padded by a word";
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(found[i].equal(wanted[i])) << "compared, and the operator's";
  const std::vector<at::Tensor> later = run(calling(convolutions));
  for (std::size_t i = 0; i < later.size(); ++i) expect_close(later[i], wanted[i], std::to_string(i));
  EXPECT_FALSE(later[1].equal(wanted[1])) << "the walk's own";
  EXPECT_TRUE(convolutions.distrusted().empty());
}

TEST_F(OracleConvolution, HasTheStridesOfTheGraph) {
  OracleConvolutions convolutions(task_.graph, [&](const at::Tensor&) { return device_; },
                                  OracleConvolutions::Choice::the_walk);
  const auto meta_strides = [&](std::size_t output) {
    return task_.graph.values[static_cast<std::size_t>(task_.graph.outputs[output])].meta.strides;
  };
  run(calling(convolutions));
  const std::vector<at::Tensor> found = run(calling(convolutions));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(found[i].strides().vec(), meta_strides(i)) << i;
  EXPECT_FALSE(found[1].is_contiguous());
}

TEST_F(OracleConvolution, IsLeftToTheOperatorForGoodWhereItWasWrong) {
  constexpr std::uint64_t only_that = 1u << 20;
  const std::pair<std::uint64_t, std::uint64_t> places[] = {
      {0, 1}, {0, 5}, {7, only_that}, {101, only_that}, {139, only_that}};
  for (const auto& [first, step] : places) {
    const auto wrong = std::make_shared<WrongWalkDevice>(device_, first, step);
    OracleConvolutions convolutions(task_.graph, [&](const at::Tensor&) { return wrong; },
                                    OracleConvolutions::Choice::the_walk);
    const std::vector<at::Tensor> wanted = run({});
    for (int round = 0; round < 2; ++round) {
      const std::vector<at::Tensor> found = run(calling(convolutions));
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].equal(wanted[i])) << i;
      EXPECT_EQ(wrong->launches(), 3u);
    }
    EXPECT_EQ(convolutions.distrusted(), (std::set<std::string>{"c", "t", "u"}));
  }
}

TEST_F(OracleConvolution, IsTheOperatorsWhereThatIsFasterOnceBothWereTimed) {
  const auto slow = std::make_shared<SlowWalkDevice>(device_);
  OracleConvolutions convolutions(task_.graph, [&](const at::Tensor&) { return slow; },
                                  OracleConvolutions::Choice::the_faster);
  const std::vector<at::Tensor> wanted = run({});
  run(calling(convolutions));
  const std::vector<at::Tensor> timed = run(calling(convolutions));
  for (std::size_t i = 0; i < timed.size(); ++i) expect_close(timed[i], wanted[i], std::to_string(i));
  EXPECT_EQ(slow->launches(), 6u);
  const std::vector<at::Tensor> later = run(calling(convolutions));
  EXPECT_EQ(slow->launches(), 6u);
  for (std::size_t i = 0; i < later.size(); ++i) EXPECT_TRUE(later[i].equal(wanted[i])) << i;
  EXPECT_TRUE(convolutions.distrusted().empty()) << "slow, not wrong";
}

TEST_F(OracleConvolution, IsTheOperatorsWhereNothingWalks) {
  const std::vector<at::Tensor> wanted = run({}), found = run(OracleConvolutions::substitute_for(task_.graph));
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].equal(wanted[i])) << i;
  EXPECT_EQ(launches(), 0u);
}

}  // namespace
}  // namespace cudal1
