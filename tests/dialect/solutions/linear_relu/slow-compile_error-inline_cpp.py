"""An extension that does not compile."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.cpp_extension import load_inline

extension = load_inline(name="broken", cpp_sources="this is no C++", functions=["relu_twice"])


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return extension.relu_twice(self.linear(x))
