#!/usr/bin/env python3
"""Rewrites the tables of tests/match_rule/README.md from a record that match_rule_on_gpu_test (or match_rule_test) has made:

CUDAL1_MATCH_RULE_TABLE=record.tsv build/release/bin/match_rule_on_gpu_test; scripts/match_rule_table.py record.tsv
"""
import math
import pathlib
import sys

README = pathlib.Path(__file__).resolve().parent.parent / "tests" / "match_rule" / "README.md"
KINDS = {"honest": "honest", "lowprecision": "low precision", "undecided": "undecided"}


def read(path):
    """{(kind, task, program): [(margin, distribution)]}, a margin of infinity where results are not finite."""
    programs = {}
    for line in pathlib.Path(path).read_text().splitlines():
        program, distribution, _, mismatches, margin = line.split("\t")[:5]
        task, file = program.split("/")
        kind, name = file.removesuffix(".cu").split("-", 1)
        value = math.inf if int(mismatches) > 0 else float(margin)
        programs.setdefault((kind, task, name), []).append((value, distribution))
    return programs


def shown(margin):
    if math.isinf(margin):
        return "not finite"
    return f"{margin:.2f}" if margin < 10 else f"{float(f'{margin:.3g}'):.0f}"


def table(programs, kind):
    lines = ["| task | program | error / budget | on the inputs | sets over budget |", "|---|---|---|---|---|"]
    for (its_kind, task, name), samples in sorted(programs.items()):
        if its_kind == kind:
            margin, distribution = max(samples)
            over = sum(value > 1 for value, _ in samples)
            lines.append(f"| `{task}` | `{name}` | {shown(margin)} | {distribution} | {over} of {len(samples)} |")
    return "\n".join(lines)


def summary(programs):
    worst = {kind: [max(s)[0] for (k, _, _), s in programs.items() if k == kind] for kind in KINDS}
    return (f"{len(worst['honest'])} honest programs, largest margin {shown(max(worst['honest']))}; "
            f"{len(worst['lowprecision'])} of low precision, smallest margin {shown(min(worst['lowprecision']))}; "
            f"{len(worst['undecided'])} undecided.")


def replace(text, name, content):
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    return before + begin + content + "\n" + end + rest.split(end)[1]


def main():
    programs = read(sys.argv[1])
    text = replace(README.read_text(), "summary", summary(programs))
    for kind, name in KINDS.items():
        text = replace(text, name, table(programs, kind))
    README.write_text(text)


main()
