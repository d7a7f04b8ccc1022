#!/usr/bin/env python3
"""Puts a row (JSON, from standard input) into a file of bench/results, in place of the row that measured the same."""
import argparse
import datetime
import json
import pathlib
import sys


def merged(rows: list, fresh: dict) -> list:
    places = [i for i, row in enumerate(rows) if row["what"] == fresh["what"]]
    if not places:
        return rows + [fresh]
    return rows[: places[0]] + [fresh] + rows[places[0] + 1 :]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--command", required=True, help="what measures the file's rows")
    parser.add_argument("--machine", required=True, help="where; rows of another machine are dropped")
    options = parser.parse_args()
    fresh = json.load(sys.stdin)
    result = {"rows": []}
    if options.file.exists():
        earlier = json.loads(options.file.read_text())
        if earlier["gpu"] == options.machine:
            result = earlier
    result["rows"] = merged(result["rows"], fresh)
    result.update(command=options.command, gpu=options.machine, commit=fresh["commit"])
    result["date"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    new = options.file.with_suffix(".new")
    new.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")
    new.replace(options.file)


if __name__ == "__main__":
    main()
