"""keep_rows.py ROWS.json --commit HASH --gpu NAME [--output FILE] [--command TEXT]: rows that were measured go into
bench/results/generator.json, or into another file that another command makes. Some rows need a GPU and some do not, so
a file holds rows of several machines; each says which GPU it had. A row that was measured before and has the same name
is replaced. Ends with 1 where a row misses its bar."""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from result_rows import RESULTS  # noqa: E402


def together(old, fresh, commit, gpu, command="bench/generator.sh"):
    """The file's own GPU is the one that any row had."""
    kept = old["rows"] if old else []
    for entry in kept:
        entry.setdefault("gpu", old["gpu"])
        entry.setdefault("commit", old["commit"])
    names = {entry["what"] for entry in fresh}
    rows = [entry for entry in kept if entry["what"] not in names]
    rows += [entry | {"commit": commit, "gpu": gpu} for entry in fresh]
    real = [entry["gpu"] for entry in rows if entry["gpu"] != "none"]
    return {"command": command, "commit": commit, "gpu": real[-1] if real else "none",
            "date": datetime.date.today().isoformat(), "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--output", type=pathlib.Path, default=RESULTS / "generator.json")
    parser.add_argument("--command", default="bench/generator.sh")
    options = parser.parse_args()
    said = json.loads(options.rows.read_text())
    fresh = said["rows"] if isinstance(said, dict) else said
    old = json.loads(options.output.read_text()) if options.output.exists() else None
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(together(old, fresh, options.commit, options.gpu, options.command), indent=1) + "\n")
    return 0 if all(entry["holds"] for entry in fresh) else 1


if __name__ == "__main__":
    sys.exit(main())
