#!/usr/bin/env python3
"""Writes docs/figures.md, and the tables of docs/evaluator.md, from bench/results/*.json: every figure with its bar and
the command that makes it."""
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


def replace_between(text: str, name: str, content: str) -> str:
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    return before + begin + content + end + rest.split(end)[1]


def main() -> None:
    files = sorted((ROOT / "bench" / "results").glob("*.json"))
    # vgpu_rank.json has no bars: it says family by family what two rows of vgpu.json sum up.
    results = {path.stem: table(path) for path in files if path.stem != "vgpu_rank"}
    tables = list(results.values())
    head = "# Figures\n\nMade by `scripts/figures.py` from `bench/results`; do not edit.\n\n"
    (ROOT / "docs" / "figures.md").write_text(head + "\n".join(tables))
    manual = ROOT / "docs" / "evaluator.md"
    shown = "\n".join(text for name, text in results.items() if not name.startswith("vgpu")).replace("\n## ", "\n### ").replace("## evaluator", "### evaluator", 1)
    manual.write_text(replace_between(manual.read_text(), "figures", shown))


if __name__ == "__main__":
    main()
