// What the tests that touch tensors share.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "graph/executor.hpp"
#include "graph/inputs.hpp"
#include "task_text.hpp"

namespace cudal1::testing {

inline TensorTable draw_leaves(const Task& task, at::Device device = at::kCPU, std::uint64_t seed = 7) {
  TensorTable table;
  draw_inputs(task, Distribution::native, seed, device, table);
  draw_weights(task, seed, false, device, table);
  draw_states(task, seed, device, table);
  return table;
}

inline std::vector<at::Tensor> run_task(const Task& task, const TensorTable& leaves,
                                        const ExecutorOptions& options = {}) {
  return Executor(task.graph, options).run(leaves).outputs;
}

//! Equal in dtype, sizes and every bit of every value.
inline void expect_same(const at::Tensor& actual, const at::Tensor& expected) {
  EXPECT_EQ(actual.scalar_type(), expected.scalar_type());
  ASSERT_EQ(actual.sizes(), expected.sizes());
  EXPECT_TRUE(at::equal(actual.cpu(), expected.cpu()))
      << "largest difference "
      << (actual.cpu().to(at::kDouble) - expected.cpu().to(at::kDouble)).abs().max().item<double>();
}

}  // namespace cudal1::testing
