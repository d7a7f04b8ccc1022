"""Asks at once for more than any machine has."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return torch.empty(1 << 50, dtype=torch.uint8)
