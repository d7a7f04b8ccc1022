"""Uses its input as scratch memory."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = F.relu(self.linear(x)) * 2
        x.zero_()
        return y
