#!/usr/bin/env python3
"""Writes bench/results/match_rule.json and the tables of tests/match_rule/README.md from a record of
match_rule_on_gpu_test; bench/match_rule.sh makes the record and calls this."""
import argparse
import datetime
import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "match_rule.json"
README = ROOT / "tests" / "match_rule" / "README.md"
KINDS = {"honest": "honest", "lowprecision": "low precision", "undecided": "undecided"}


def read(path):
    """{(kind, task, program): [(margin, distribution)]}, a margin of infinity where results are not finite."""
    programs = {}
    for line in pathlib.Path(path).read_text().splitlines():
        program, distribution, _, mismatches, margin = line.split("\t")[:5]
        task, file = program.split("/")
        kind, name = file.removesuffix(".cu").split("-", 1)
        value = float(margin)
        if int(mismatches) > 0 or math.isnan(value):
            value = math.inf
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


def row(what, value, unit, bar, holds, **more):
    return {"what": what, "value": value, "unit": unit, "bar": bar, "holds": holds, **more}


def missing(programs):
    """Programs of the collection that the record knows nothing of: they failed before they could be judged."""
    there = {(p.parent.name, p.name) for p in (ROOT / "tests" / "match_rule").glob("*/*.cu")}
    return sorted(there - {(task, f"{kind}-{name}.cu") for kind, task, name in programs})


def rows(programs):
    """A program is rejected when one of its sets is over budget."""
    worst = {kind: [max(s)[0] for (k, _, _), s in programs.items() if k == kind] for kind in KINDS}
    honest, low = worst["honest"], worst["lowprecision"]
    rejected, accepted = sum(m > 1 for m in honest), sum(m <= 1 for m in low)
    return [
        row("honest variants rejected by the match rule", rejected, f"of {len(honest)}", "none of at least 40",
            rejected == 0 and len(honest) >= 40),
        row("largest error of an honest variant over its budget", max(honest), "", "below 1", max(honest) < 1),
        row("low-precision variants accepted by the match rule", accepted, f"of {len(low)}", "none of at least 20",
            accepted == 0 and len(low) >= 20),
        row("smallest error of a low-precision variant over its budget", min(low), "", "above 1", min(low) > 1),
    ]


def result(programs, arguments):
    margins = [{"kind": KINDS[kind], "task": task, "program": name, "on": max(samples)[1],
                "margin": float(f"{max(samples)[0]:.4g}") if math.isfinite(max(samples)[0]) else None}
               for (kind, task, name), samples in sorted(programs.items())]
    return {"command": "bench/match_rule.sh", "commit": arguments.commit, "gpu": arguments.gpu,
            "date": datetime.date.today().isoformat(), "rows": rows(programs), "margins": margins}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record")
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--commit", required=True)
    arguments = parser.parse_args()
    programs = read(arguments.record)
    if missing(programs):
        raise SystemExit(f"not in the record, so nothing is written: {missing(programs)}")
    RESULTS.write_text(json.dumps(result(programs, arguments), indent=1) + "\n")
    text = replace(README.read_text(), "summary", summary(programs))
    for kind, name in KINDS.items():
        text = replace(text, name, table(programs, kind))
    README.write_text(text)


if __name__ == "__main__":
    main()
