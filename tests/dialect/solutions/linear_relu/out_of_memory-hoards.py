"""Takes memory without end, and uses it."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.kept = []

    def forward(self, x):
        while True:
            self.kept.append(torch.ones(1 << 26, dtype=torch.uint8))
