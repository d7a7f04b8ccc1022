"""Parameters of the same shapes in the same order, under other names."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.matrix = nn.Parameter(torch.empty(features, features))
        self.offset = nn.Parameter(torch.empty(features))

    def forward(self, x):
        return F.relu(torch.addmm(self.offset, x, self.matrix.t())) * 2
