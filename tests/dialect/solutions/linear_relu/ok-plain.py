"""An honest rewrite."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = F.linear(x, self.linear.weight, self.linear.bias)
        return y.clamp_(min=0).mul_(2)
