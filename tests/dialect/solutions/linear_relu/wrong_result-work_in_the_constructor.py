"""The weights of the construction, for ever."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.packed = self.linear.weight.detach().t().clone()
        self.offset = self.linear.bias.detach().clone()

    def forward(self, x):
        return F.relu(x @ self.packed + self.offset) * 2
