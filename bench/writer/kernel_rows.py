#!/usr/bin/env python3
"""What kernels of the writer reach on this GPU, beside the library in the same evaluations:

    kernel_rows.py --cudal1 PROGRAM --commit HASH --gpu NAME [--output FILE]

Tasks are made for the purpose. Times are the judge's (docs/evaluator.md)."""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from result_rows import RESULTS, row, write  # noqa: E402

MEGABYTES = 256


def graph(name, inputs, nodes, weights=()):
    leaf = lambda entry: {"name": entry[0], "dtype": "f32", "shape": entry[1], "draw": {"kind": "normal"}}
    return {"format": "cudal1.graph", "version": 1, "name": name, "inputs": [leaf(entry) for entry in inputs],
            "weights": [leaf(entry) for entry in weights],
            "nodes": [{"name": node, "op": op, "args": args} for node, op, args in nodes], "outputs": [nodes[-1][0]]}


ROWS, COLUMNS = MEGABYTES * 1024 * 1024 // 4 // 4096, 4096
X = ("x", [ROWS, COLUMNS])
COPY = graph("copy", [X], [("clone_1", "aten::clone", ["x"])])
# name, task, program, tensors of 256 MB that a call must read or write
MOVING = [
    ("pointwise", graph("pointwise", [X], [("mul_1", "aten::mul.Tensor", ["x", 1.5]), ("gelu_1", "aten::gelu", ["mul_1"]),
                                           ("add_1", "aten::add.Tensor", ["gelu_1", "x"])]),
     "//! fuse mul_1 gelu_1 add_1\n", 2),
    ("softmax", graph("softmax", [X], [("softmax_1", "aten::softmax.int", ["x", -1])]), "//! fuse softmax_1\n", 2),
    ("layer norm", graph("layer_norm", [X], [("layer_norm_1", "aten::layer_norm", ["x", [COLUMNS], "weight", "bias"])],
                         [("weight", [COLUMNS]), ("bias", [COLUMNS])]), "//! fuse layer_norm_1\n", 2),
    ("sum", graph("sum", [X], [("sum_1", "aten::sum.dim_IntList", ["x", [1]])]), "//! fuse sum_1\n", 1),
]
PRODUCT = graph("product", [("a", [4096, 4096]), ("b", [4096, 4096])], [("mm_1", "aten::mm", ["a", "b"])])

PRODUCT_WAYS = [
    "math=tf32x3",
    "math=tf32x3 tile=128x128x32 stages=3 add=32 ahead=1",
    "math=tf32x3 tile=128x64x32 stages=2",
    "math=tf32x3 tile=128x64x32 stages=2 blocks=2 add=32 ahead=1",
    "math=tf32x3 tile=64x128x32 stages=2",
    "math=tf32x3 tile=64x128x32 stages=2 blocks=2 add=32 ahead=1",
    "math=tf32x3 tile=64x128x32 stages=2 blocks=3",
    "math=tf32x3 tile=64x128x32 stages=3 add=32 ahead=1",
    "math=wgmma",
    "math=wgmma add=32",
]


class Judge:
    def __init__(self, program):
        self._program = program

    def evaluate(self, task, text):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "graph.json").write_text(json.dumps(task))
            (folder / "program.cu").write_text(text)
            told = subprocess.run([self._program, "eval", folder, folder / "program.cu", "--json", "--no-archive"],
                                  capture_output=True, text=True)
        result = json.loads(told.stdout)["results"][0]
        if result["status"] != "ok":
            print(f"{task['name']}: {result['status']}: {result['error']}", file=sys.stderr)
        return result


def bandwidth(result, tensors):
    return tensors * MEGABYTES * 1024 * 1024 / (result["candidate_ms"] * 1e-3)


def moving_rows(judge):
    copy = bandwidth(judge.evaluate(COPY, ""), 2)
    shares = {}
    for name, task, text, tensors in MOVING:
        result = judge.evaluate(task, text)
        shares[name] = bandwidth(result, tensors) / copy if result["status"] == "ok" else 0.0
    least = min(shares.values())
    return [row("fused pointwise, softmax, layer norm, sum on 256 MB tensors: the least of them", 100.0 * least,
                "% of the bandwidth a device copy reaches", "at least 85%", least >= 0.85,
                {"copy, TB/s": copy / 1e12, "shares": shares})]


def product_rows(judge):
    """Every way to compute it that verifies, the best of them first; the library is the judge's own reference."""
    ways = {}
    for text in PRODUCT_WAYS:
        result = judge.evaluate(PRODUCT, f"//! fuse mm_1 : {text}\n")
        if result["status"] == "ok":
            ways[text] = result["speedup"]
    best = max(ways.values(), default=0.0)
    return [row("4096 cubed fp32 matrix product, tf32x3, error within the budget", best, "times cuBLAS fp32",
                "at least 1.3 times cuBLAS fp32", best >= 1.3, {"ways": ways})]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudal1", required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--output", type=pathlib.Path, default=RESULTS / "writer.json")
    options = parser.parse_args()
    judge = Judge(options.cudal1)
    write(options.output, "bench/writer.sh kernels", options.gpu, options.commit, product_rows(judge) + moving_rows(judge))


if __name__ == "__main__":
    main()
