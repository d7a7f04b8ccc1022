"""Half of the rows on a stream of its own, which the caller waits for."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(features))
        self.side = torch.cuda.Stream()

    def forward(self, x):
        y = torch.empty_like(x)
        half = x.shape[0] // 2
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y[:half] = torch.tanh(x[:half] * self.scale) + x[:half]
        y[half:] = torch.tanh(x[half:] * self.scale) + x[half:]
        torch.cuda.current_stream().wait_stream(self.side)
        return y
