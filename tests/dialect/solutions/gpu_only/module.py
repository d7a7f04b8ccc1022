"""The reference: three launches, so that one kernel is faster."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return torch.tanh(x * self.scale) + x


def get_inputs():
    return [torch.randn(8192, 4096)]


def get_init_inputs():
    return [4096]
