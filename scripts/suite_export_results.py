#!/usr/bin/env python3
"""Writes bench/results/suite_export.json from the records that bench/suite_export.sh keeps in a folder: the list of all
tasks, and what `cudal1 check --json` said of them, in one record or in shares."""
import argparse
import datetime
import json
import pathlib
import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "suite_export.json"
BAR = ("dev suite, paper sizes: tasks exported and run by the C++ executor, equal to eager PyTorch within the error "
       "budget")


def key(task):
    return task["suite"], task["level"], task["name"]


def merged(folder):
    """{key: row of the latest record that has the task}, and the devices they ran on."""
    rows, devices = {}, set()
    for path in sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime):
        record = json.loads(path.read_text())
        devices.add(record["device"])
        rows |= {key(task): task for task in record["tasks"]}
    return rows, devices


def result_row(tasks, rows):
    done = [rows[key(task)] for task in tasks if key(task) in rows]
    good = [row for row in done if row["ok"]]
    failures = [{"level": row["level"], "id": row["id"], "error": row["error"]} for row in done if not row["ok"]]
    details = {
        "checked": len(done),
        "equal in every bit": sum(row["equal_bits"] for row in good),
        "degenerate": sum(row["degenerate"] for row in good),
        "median share of the budget": statistics.median([row["budget_share"] for row in good]) if good else None,
        "largest share of the budget": max((row["budget_share"] for row in good), default=None),
        "failures": failures,
    }
    total = len(tasks)
    return {"what": BAR, "value": len(good), "unit": f"of {total}", "bar": f"{total} of {total}",
            "holds": len(good) == total, "details": details}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--output", type=pathlib.Path, default=RESULTS)
    options = parser.parse_args()
    rows, devices = merged(options.records)
    row = result_row(json.loads((options.records / "tasks").read_text())["tasks"], rows)
    row["details"]["device"] = ", ".join(sorted(devices))
    result = {"command": "bench/suite_export.sh SUITE.jsonl", "commit": options.commit, "gpu": options.gpu,
              "date": datetime.date.today().isoformat(), "rows": [row]}
    options.output.write_text(json.dumps(result, indent=1) + "\n")
    print("holds" if row["holds"] else "FAILS", row["what"], row["value"], row["unit"])


if __name__ == "__main__":
    main()
