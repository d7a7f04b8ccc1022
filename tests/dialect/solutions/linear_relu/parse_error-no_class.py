"""The reference's name in place of ModelNew."""

import torch.nn as nn


class Model(nn.Module):
    pass
