"""A thread more at every call."""

import torch
import torch.nn as nn
import torch.nn.functional as F

import threading
import time


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        return F.relu(self.linear(x)) * 2
