#!/usr/bin/env python3
"""Writes docs/figures.md, and tables of docs/evaluator.md and docs/vgpu_timing.md, from bench/results/*.json: every
figure with its bar and the command that makes it."""
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


def rank_summary(rank: dict) -> str:
    lines = ["| | families | variants | Spearman | median error |", "|---|---|---|---|---|"]
    for half in ("unseen", "fitted", "cross_validated", "all"):
        q = rank[half]
        lines.append(f"| {half.replace('_', '-')} | {q['families']} | {q['variants']} | {q['spearman']:.3f} | {q['median_error']:.1%} |")
    return "\n".join(lines) + "\n"


def rank_families(rank: dict, half: str) -> str:
    lines = [f"| {half} family | variants | median error | predicted / measured |", "|---|---|---|---|"]
    for row in sorted((row for row in rank["rows"] if row["half"] == half), key=lambda row: row["median_error"]):
        ratios = [variant["predicted_us"] / variant["measured_us"] for variant in row["variants"]]
        lines.append(f"| {row['family']} | {len(ratios)} | {row['median_error']:.0%} | {min(ratios):.2f} to {max(ratios):.2f} |")
    return "\n".join(lines) + "\n"


def write_rank_tables() -> None:
    rank = json.loads((ROOT / "bench" / "results" / "vgpu_rank.json").read_text())
    manual = ROOT / "docs" / "vgpu_timing.md"
    text = replace_between(manual.read_text(), "rank", rank_summary(rank))
    families = "\n".join(rank_families(rank, half) for half in ("unseen", "fitted"))
    manual.write_text(replace_between(text, "rank families", families))


def main() -> None:
    results = dated_results()
    head = "# Figures\n\nMade by `scripts/figures.py` from `bench/results`; do not edit.\n\n"
    figures = "\n".join(table(name, result, "##") for name, result in results.items())
    (ROOT / "docs" / "figures.md").write_text(head + figures)
    manual = ROOT / "docs" / "evaluator.md"
    shown = "\n".join(table(name, results[name], "###") for name in ("evaluator", "match_rule"))
    manual.write_text(replace_between(manual.read_text(), "figures", shown))
    write_rank_tables()


if __name__ == "__main__":
    main()
