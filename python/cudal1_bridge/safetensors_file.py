"""The safetensors format: an eight-byte header length, a JSON header, the tensors' bytes. A few lines here
spare a package in whatever environment the user's torch lives."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import torch

_dtype_names = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def save_tensors(tensors: dict[str, torch.Tensor], path: Path) -> None:
    plain = {key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()}
    header = _header(plain)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little"))
        file.write(header)
        for tensor in plain.values():
            file.write((ctypes.c_char * _size(tensor)).from_address(tensor.data_ptr()) if _size(tensor) else b"")


def load_tensors(path: Path) -> dict[str, torch.Tensor]:
    """Of files that we wrote ourselves: nothing in them is checked."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    dtypes = {name: dtype for dtype, name in _dtype_names.items()}
    content = torch.from_file(str(path), size=path.stat().st_size, dtype=torch.uint8)
    tensors = {}
    header.pop("__metadata__", None)
    for key, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        # A copy: a tensor after one of another dtype may begin at an odd byte.
        tensors[key] = content[begin:end].clone().view(dtypes[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def _header(tensors: dict[str, torch.Tensor]) -> bytes:
    described, offset = {}, 0
    for key, tensor in tensors.items():
        if tensor.dtype not in _dtype_names:
            raise TypeError(f"{key} holds {tensor.dtype}, which a task cannot have")
        end = offset + _size(tensor)
        described[key] = {"dtype": _dtype_names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(described).encode()
    return text + b" " * (-len(text) % 8)  # tensors begin at a multiple of eight bytes


def _size(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()
