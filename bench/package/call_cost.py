"""What a call of an exported one-kernel module costs the host, over the bare launch of the same kernel.

Both are enqueued in loops of the same length on the same stream, on the same memory, alternately: the module by Python, as
its users do, the launch by a loop in C++ (bare_launch.cpp). Each sample begins with an idle device and is short enough for
its queue; the clock stops when all is enqueued.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import importlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
WHAT = "call of an exported one-kernel module from Python, over the bare launch of that kernel"
MOST_US = 6.0
CALLS = 200  # of a sample; the device's queue holds about a thousand launches
SAMPLES = 301

MODULE = """
import torch

class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.rand(width))

    def forward(self, x): return torch.relu(x + self.shift)

def get_inputs(): return [torch.rand(64, 256)]
def get_init_inputs(): return [256]
"""

PROGRAM = """
//! kernel shifted_relu replaces * : grid=x.size(0) block=x.size(1) args=(x, "shift", relu_1)
extern "C" __global__ void shifted_relu(const float* x, const float* shift, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = fmaxf(x[i] + shift[threadIdx.x], 0.0f);
}
"""


def exported(folder: Path, cudal1: Path) -> ModuleType:
    (folder / "shifted.py").write_text(MODULE)
    (folder / "shifted.cu").write_text(PROGRAM)
    command = [cudal1, "export", "shifted.py", "--program", "shifted.cu", "-o", "shifted_package"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    sys.path.insert(0, str(folder))
    return importlib.import_module("shifted_package")


def bare_launches(folder: Path, library: Path, x: torch.Tensor, shift: torch.Tensor, y: torch.Tensor) -> Callable[[], float]:
    """Nanoseconds a launch, by a loop in C++."""
    program = json.loads((folder / "shifted_package/package.json").read_text())["programs"][0]
    (cubin,) = (folder / "shifted_package/cubins").iterdir()
    functions = ctypes.CDLL(str(library))
    functions.bare_kernel.restype = ctypes.c_void_p
    functions.bare_launches_ns.restype = ctypes.c_double
    kernel = functions.bare_kernel(str(cubin).encode(), program["symbols"]["shifted_relu"].encode())
    if not kernel:
        raise SystemExit(f"{cubin} cannot be loaded")
    arguments = (ctypes.c_uint64 * 3)(x.data_ptr(), shift.data_ptr(), y.data_ptr())
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def sample() -> float:
        total = functions.bare_launches_ns(ctypes.c_void_p(kernel), 64, 256, arguments, 3, stream, CALLS)
        if total < 0:
            raise SystemExit("a launch failed")
        return float(total) / CALLS

    return sample


def calls_of(function: Any, x: torch.Tensor) -> Callable[[], float]:
    """Nanoseconds a call, by a loop in Python, which is part of what a caller pays."""

    def sample() -> float:
        clock = time.perf_counter_ns
        begin = clock()
        for _ in range(CALLS):
            function(x)
        return (clock() - begin) / CALLS

    return sample


def medians_us(ways: dict[str, Callable[[], float]], order: random.Random) -> dict[str, float]:
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(SAMPLES):
        for name in order.sample(list(ways), len(ways)):
            torch.cuda.synchronize()
            nanoseconds = ways[name]()
            if number >= SAMPLES // 10:  # the first ones warm up
                samples[name].append(nanoseconds)
    return {name: statistics.median(times) / 1e3 for name, times in samples.items()}


def measure(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        package = exported(Path(folder), options.cudal1)
        new, original = package.ModelNew(256).cuda(), package.model._original.Model(256).cuda()
        x = torch.rand(64, 256, device="cuda")
        y = torch.empty_like(x)
        new.load_state_dict(original.state_dict())
        torch.testing.assert_close(new(x), original(x))
        assert package.why_not(new) == "", package.why_not(new)
        bare = bare_launches(Path(folder), options.bare, x, new.shift.detach(), y)
        bare()
        torch.testing.assert_close(y, original(x))
        ways = {"bare launch": bare, "exported module": calls_of(new, x), "original module": calls_of(original, x),
                "torch.relu alone": calls_of(torch.relu, x)}
        print(f"seed {options.seed}", file=sys.stderr)
        medians = medians_us(ways, random.Random(options.seed))
    more = medians["exported module"] - medians["bare launch"]
    return {"what": WHAT, "value": round(more, 3), "unit": "us more at the median", "bar": f"at most {MOST_US:g} us more",
            "holds": more <= MOST_US, "commit": options.commit,
            "details": {f"{name}, median us": round(value, 3) for name, value in medians.items()}
            | {"samples": SAMPLES - SAMPLES // 10, "calls a sample": CALLS, "torch": torch.__version__}}


def write(row: dict[str, Any], output: Path, commit: str) -> None:
    """Rows of earlier runs on the same GPU stay, but for those that are measured again."""
    gpu, command, rows = torch.cuda.get_device_name(), "bench/package_call.sh", []
    if output.exists():
        earlier = json.loads(output.read_text())
        if earlier["gpu"] == gpu:
            rows = [{"commit": earlier["commit"]} | old for old in earlier["rows"] if old["what"] != row["what"]]
            commands = earlier["command"].split(", ")
            command = ", ".join(commands if command in commands else [*commands, command])
    made = {"command": command, "commit": commit, "gpu": gpu, "date": datetime.date.today().isoformat(), "rows": [*rows, row]}
    output.write_text(json.dumps(made, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cudal1", type=Path, required=True)
    parser.add_argument("--bare", type=Path, required=True, help="libcudal1_bare_launch.so")
    parser.add_argument("--commit", required=True)
    parser.add_argument("--seed", type=int, default=0, help="of the order of the samples")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/pytorch.json")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("no GPU here: there is nothing to launch on")
    row = measure(options)
    write(row, options.output, options.commit)
    print("holds" if row["holds"] else "FAILS", row["what"], row["value"], row["unit"], row["details"])


if __name__ == "__main__":
    main()
