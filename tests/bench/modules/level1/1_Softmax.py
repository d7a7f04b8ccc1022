import torch
from torch import nn


class Model(nn.Module):
    """A short call: most of it is the host's."""

    def forward(self, x):
        return torch.softmax(x * 2.0, dim=1)


def get_inputs():
    return [torch.rand(512, 1024)]


def get_init_inputs():
    return []
