// The fused kernel of a GPU gives what that of the processor gives.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "train/adamw.hpp"
#include "train/gradient_clipping.hpp"

namespace cudal1 {
namespace {

at::Tensor trained_on(const at::Device& device) {
  const at::Tensor weight = at::linspace(-1.0, 1.0, 1000).to(device).requires_grad_(true);
  AdamW optimiser({{{{"weight", weight}}, 1.0, 0.1}}, {});
  for (int step = 1; step < 10; ++step) {
    weight.mutable_grad() = at::linspace(-step, 2.0 * step, 1000).to(device);
    optimiser.step(0.01, clip_by_global_norm(optimiser.gradients(), 1.0));
  }
  return weight.detach().cpu();
}

TEST(AdamWOnGpu, GivesWhatTheProcessorGives) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU that PyTorch can use";
  const at::Tensor expected = trained_on(at::kCPU), found = trained_on(at::Device(at::kCUDA, 0));
  EXPECT_TRUE(at::allclose(found, expected, 1e-5, 1e-6)) << (found - expected).abs().max();
}

}  // namespace
}  // namespace cudal1
