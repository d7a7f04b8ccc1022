"""An exported module: `ModelNew` stands in for the original `Model` and runs a program that was measured to be faster.

It is for inference. Whatever the program was not made for (other shapes, dtypes, strides or devices, another mode, other
constructor arguments, replaced parts or edited attributes, a gradient that is needed) runs as the original does;
`why_not(module)` says what the last call did not fit, and a warning comes once a reason. Weights may change at any time:
`prepare` runs again by itself, except after edits through `.data`, which need `module.refresh()`.
"""

from .model import ModelNew, save_weights, why_not

__all__ = ["ModelNew", "save_weights", "why_not"]
