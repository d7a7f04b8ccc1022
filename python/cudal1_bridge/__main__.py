"""python -m cudal1_bridge MODULE.py -o FOLDER: writes the task of a module."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from .errors import BridgeError, with_place
from .exporting import export_task
from .module_file import load_module_file
from .sizes import set_sizes
from .task_folder import write_task


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="cudal1_bridge", description="Writes the task of a PyTorch module.")
    parser.add_argument("module", type=Path, help="a file with Model, get_inputs and get_init_inputs")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the folder to make")
    parser.add_argument("--seed", type=int, default=0, help="for the weights (default: 0)")
    parser.add_argument("--sizes", default="", help="other ones, such as x=32x128,batch_size=32")
    options = parser.parse_args(arguments)
    try:
        file = load_module_file(options.module)
        if options.sizes:
            set_sizes(file, options.sizes)
        task = export_task(file, _task_name(" ".join(filter(None, (file.name, options.sizes)))), options.seed)
        write_task(task, options.output, file.imported_neighbours())
    except BridgeError as problem:
        print(f"cudal1: {with_place(problem, options.module.resolve())}", file=sys.stderr)
        return 1
    return 0


def _task_name(stem: str) -> str:
    return re.sub(r"[^\w.]", "_", stem, flags=re.ASCII) or "task"


if __name__ == "__main__":
    sys.exit(main())
