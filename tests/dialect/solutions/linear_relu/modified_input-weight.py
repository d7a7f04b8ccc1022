"""Scales the weights back and forth."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        self.linear.weight.data.mul_(3)
        y = F.relu(F.linear(x, self.linear.weight / 3, self.linear.bias)) * 2
        self.linear.weight.data.div_(3).add_(1e-9)
        return y
