"""Computes in bfloat16."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = F.linear(x.bfloat16(), self.linear.weight.bfloat16(), self.linear.bias.bfloat16())
        return F.relu(y).float() * 2
