#!/usr/bin/env python3
"""Writes docs/figures.md, and the tables of docs/evaluator.md, from bench/results/*.json: every figure with its bar and
the command that makes it."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def dated_results() -> dict:
    """Files without a date are records of another form, such as bench/results/vgpu_rank.json."""
    read = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "bench" / "results").glob("*.json"))}
    return {name: result for name, result in read.items() if "date" in result}


def table(name: str, result: dict, heading: str) -> str:
    lines = [
        f"{heading} {name}",
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


def replace_between(text: str, name: str, content: str) -> str:
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    return before + begin + content + end + rest.split(end)[1]


def main() -> None:
    results = dated_results()
    head = "# Figures\n\nMade by `scripts/figures.py` from `bench/results`; do not edit.\n\n"
    figures = "\n".join(table(name, result, "##") for name, result in results.items())
    (ROOT / "docs" / "figures.md").write_text(head + figures)
    manual = ROOT / "docs" / "evaluator.md"
    shown = "\n".join(table(name, results[name], "###") for name in ("evaluator", "match_rule"))
    manual.write_text(replace_between(manual.read_text(), "figures", shown))


if __name__ == "__main__":
    main()
