#!/usr/bin/env python3
"""Writes bench/results/match_rule.json from a record of match_rule_on_gpu_test, and from that file the tables of
tests/match_rule/README.md; bench/match_rule.sh makes the record and calls this. Without a record, only the tables."""
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
    if margin is None:
        return "not finite"
    return f"{margin:.2f}" if margin < 10 else f"{float(f'{margin:.3g}'):.0f}"


def table(margins, kind):
    lines = ["| task | program | error / budget | on the inputs |", "|---|---|---|---|"]
    lines += [f"| `{m['task']}` | `{m['program']}` | {shown(m['margin'])} | {m['on']} |" for m in margins if m["kind"] == kind]
    return "\n".join(lines)


def summary(margins):
    # No margin is worse than any number.
    values = {kind: [m["margin"] for m in margins if m["kind"] == kind] for kind in KINDS.values()}
    largest = None if None in values["honest"] else max(values["honest"])
    smallest = min(value for value in values["low precision"] if value is not None)
    return (f"{len(values['honest'])} honest programs, largest margin {shown(largest)}; "
            f"{len(values['low precision'])} of low precision, smallest margin {shown(smallest)}; "
            f"{len(values['undecided'])} undecided.")


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


def write_results(arguments):
    programs = read(arguments.record)
    if missing(programs):
        raise SystemExit(f"not in the record, so nothing is written: {missing(programs)}")
    RESULTS.write_text(json.dumps(result(programs, arguments), indent=1) + "\n")


def write_tables():
    margins = json.loads(RESULTS.read_text())["margins"]
    text = replace(README.read_text(), "summary", summary(margins))
    for kind in KINDS.values():
        text = replace(text, kind, table(margins, kind))
    README.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record", nargs="?")
    parser.add_argument("--gpu")
    parser.add_argument("--commit")
    arguments = parser.parse_args()
    if arguments.record:
        if not arguments.gpu or not arguments.commit:
            parser.error("a record needs --gpu and --commit")
        write_results(arguments)
    write_tables()


if __name__ == "__main__":
    main()
