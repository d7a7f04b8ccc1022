"""A kernel in Triton."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def fused(x, scale, y, n, columns, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    value = tl.load(x + place, mask=inside)
    factor = tl.load(scale + place % columns, mask=inside)
    product = value * factor
    tanh = 2.0 / (1.0 + tl.exp(-2.0 * product)) - 1.0
    tl.store(y + place, tanh + value, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(features))

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        fused[(triton.cdiv(n, 1024),)](x, self.scale, y, n, self.scale.numel(), BLOCK=1024)
        return y
