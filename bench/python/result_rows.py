"""Rows of bench/results/NAME.json, written as bench/results_file.cpp writes them."""

from __future__ import annotations

import datetime
import json
import pathlib

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results"


def row(what, value, unit, bar, holds, details=None):
    made = {"what": what, "value": value, "unit": unit, "bar": bar, "holds": bool(holds)}
    return made | ({"details": details} if details else {})


def merged(old, fresh, gpu, commit):
    """Rows of earlier runs on the same GPU stay, but for those measured again."""
    kept = old["rows"] if old and old["gpu"] == gpu else []
    for entry in kept:
        entry.setdefault("commit", old["commit"])
    names = {entry["what"] for entry in fresh}
    return [entry for entry in kept if entry["what"] not in names] + [entry | {"commit": commit} for entry in fresh]


def write(file, command, gpu, commit, rows):
    old = json.loads(file.read_text()) if file.exists() else None
    result = {"command": command, "commit": commit, "gpu": gpu, "date": datetime.date.today().isoformat(),
              "rows": merged(old, rows, gpu, commit)}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(result, indent=1) + "\n")
    for entry in rows:
        print("holds" if entry["holds"] else "FAILS", f"{entry['what']}: {entry['value']:.4g} {entry['unit']}")
