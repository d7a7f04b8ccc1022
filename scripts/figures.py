#!/usr/bin/env python3
"""Writes docs/figures.md from bench/results/*.json: every figure with its bar and the command that makes it."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def table(path: pathlib.Path) -> str:
    result = json.loads(path.read_text())
    lines = [
        f"## {path.stem}",
        "",
        f"`{result['command']}`, {result['gpu']}, {result['date']}",
        "",
        "| what | measured | bar | holds | commit |",
        "|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        holds = "yes" if row["holds"] else "**no**"
        commit = row.get("commit", result["commit"])
        lines.append(f"| {row['what']} | {row['value']:.4g} {row['unit']} | {row['bar']} | {holds} | {commit} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    files = sorted((ROOT / "bench" / "results").glob("*.json"))
    text = "# Figures\n\nMade by `scripts/figures.py` from `bench/results`; do not edit.\n\n"
    (ROOT / "docs" / "figures.md").write_text(text + "\n".join(table(path) for path in files))


if __name__ == "__main__":
    main()
