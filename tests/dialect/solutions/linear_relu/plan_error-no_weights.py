"""Nothing that could be given the task's weights."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.matrix = nn.Parameter(torch.randn(features // 2, features))

    def forward(self, x):
        return torch.relu(x @ self.matrix.t()) * 2
