"""No Python."""

class ModelNew(nn.Module:
    pass
