"""untrained_rows.py SAMPLES.json --rows FILE [--grammar]: the row about the model as it comes, of what
`cudal1 bench examples --policy local --json` printed."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from result_rows import row  # noqa: E402


def success(said, grammar):
    figures = said["figures"][-1]
    shares = {f"pass@{entry['k']}": entry["share"] for entry in figures["pass_at"]}
    fast = {f"fast_{entry['p']}@{entry['k']}": entry["share"] for entry in figures["fast_p_at"]}
    answers = {name: figures[name] for name in ("answers", "programs", "refusals", "without_program", "not_answered", "right")}
    statuses = {entry["status"]: entry["samples"] for entry in figures["statuses"]}
    verdicts = all(sample["status"] not in ("failed", "no_task", "not_answered", "judge_error") for sample in said["samples"])
    return row("success of the untrained model on the example tasks" + (", held to the grammar" if grammar else ""),
               figures["right"] / figures["answers"], "of its answers are right programs", "measured and recorded", verdicts,
               {"tasks": figures["tasks"], "shares": shares | fast, "answers": answers, "statuses": statuses,
                "tokens read": figures["prompt_tokens"], "tokens written": figures["new_tokens"],
                "device": "virtual GPU, times are predicted"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("samples", type=pathlib.Path)
    parser.add_argument("--rows", type=pathlib.Path, required=True)
    parser.add_argument("--grammar", action="store_true")
    options = parser.parse_args()
    entry = success(json.loads(options.samples.read_text()), options.grammar)
    options.rows.write_text(json.dumps([entry], indent=1) + "\n")
    print("holds" if entry["holds"] else "FAILS", f"{entry['what']}: {entry['value']:.4g} {entry['unit']}",
          json.dumps(entry["details"]))
    return 0 if entry["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
