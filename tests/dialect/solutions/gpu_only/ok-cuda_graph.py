"""A CUDA Graph as it should be: inputs copied in, results copied out."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(features))
        self.graph = None

    def capture(self, x):
        self.held = x.clone()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.tanh(self.held * self.scale) + self.held
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.result = torch.tanh(self.held * self.scale) + self.held

    def forward(self, x):
        if self.graph is None:
            self.capture(x)
        self.held.copy_(x)
        self.graph.replay()
        return self.result.clone()
