"""An extension in C++, compiled where the solution runs."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

torch::Tensor relu_twice(torch::Tensor x) { return x.clamp_min(0).mul_(2); }
"""
extension = load_inline(name="relu_twice", cpp_sources=source, functions=["relu_twice"])


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return extension.relu_twice(self.linear(x))
