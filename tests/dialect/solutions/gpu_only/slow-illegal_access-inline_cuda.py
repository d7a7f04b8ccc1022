"""A kernel that reads far outside."""

import torch
import torch.nn as nn

from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>

__global__ void fused(const float* x, const float* scale, float* y, long n, int columns) {
  const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = tanhf(x[i] * scale[i * 4099 + (1L << 40)]) + x[i];
}

torch::Tensor run(torch::Tensor x, torch::Tensor scale) {
  auto y = torch::empty_like(x);
  const long n = x.numel();
  fused<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), scale.data_ptr<float>(), y.data_ptr<float>(), n, scale.numel());
  return y;
}
"""
extension = load_inline(
    name="fused_wild",
    cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor scale);",
    cuda_sources=cuda_source,
    functions=["run"],
)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return extension.run(x, self.scale)
