// The last test of a result that looks too fast to be true.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "host_backend.hpp"
#include "judge/judge.hpp"
#include "judge/verification.hpp"

namespace cudal1 {
namespace {

constexpr const char* addition = R"json({
  "format": "cudal1.graph", "version": 1, "name": "addition",
  "inputs": [{"name": "x", "dtype": "f32", "shape": [1024], "draw": {"kind": "normal", "mean": 0, "std": 1}},
             {"name": "y", "dtype": "f32", "shape": [1024], "draw": {"kind": "normal", "mean": 0, "std": 1}}],
  "nodes": [{"name": "add_1", "op": "aten::add.Tensor", "args": ["x", "y"]}],
  "outputs": ["add_1"]})json";

std::string addition_of(const std::string& terms) {
  return R"cuda(
//! kernel add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1)
extern "C" __global__ void add(const float* a, const float* b, float* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = )cuda" +
         terms + ";\n}\n";
}

class Dependence : public ::testing::Test {
 protected:
  Dependence() {
    ::setenv("OMP_NUM_THREADS", "1", 1);
    Task task = parse_task(addition, {});
    infer_metas(task);
    context_ = std::make_unique<TaskContext>(backend_, std::move(task), PrecisionPolicy::standard, 3);
  }

  std::optional<Failure> test(const std::string& program, std::uint64_t seed) {
    const CompiledProgram compiled = compile_program(context_->task().graph, backend_, "program", program);
    PlanSession& session = context_->candidate();
    EXPECT_TRUE(session.load(compiled.plan, compiled.module, {}).ok());
    const TensorTable constants = context_->draw_constants(1, false);
    EXPECT_TRUE(session.set_constants(constants, std::chrono::seconds(10)).ok());
    Random random(seed);
    return test_dependence(*context_, session, constants, std::chrono::seconds(10), random);
  }

  HostBackend backend_;
  std::unique_ptr<TaskContext> context_;
};

TEST_F(Dependence, IsFoundWhereOutputsFollowTheirInputs) {
  const auto failure = test(addition_of("a[i] + b[i]"), 5);
  EXPECT_FALSE(failure) << failure->message;
}

TEST_F(Dependence, IsMissedWhereAnElementIsNotRead) {
  EXPECT_TRUE(test(addition_of("a[i] + (i == 500 ? 0.25f : b[i])"), 5));
}

TEST_F(Dependence, DrawsFromTheJudgesSeedsOnly) {
  const at::Generator& global = at::globalContext().defaultGenerator(at::kCPU);
  const at::Tensor before = global.get_state().clone();
  EXPECT_FALSE(test(addition_of("a[i] + b[i]"), 5));
  EXPECT_TRUE(global.get_state().equal(before));
}

}  // namespace
}  // namespace cudal1
