"""test_summary.py RESULTS: counts test cases and says why some were skipped; ends with one line of totals.

RESULTS holds ctest.xml (JUnit, from CTest) and one GoogleTest report NAME.xml for each test program that is one.
A program that is no GoogleTest counts as one case. Exit status 1 when a case failed or none passed.
"""

import pathlib
import sys
import xml.etree.ElementTree as xml


def read_report(path):
    """Passed, failed, and skipped cases as {name: reason}; None where a program left no whole report (a crash)."""
    try:
        suites = xml.parse(path).getroot()
    except (OSError, xml.ParseError):
        return None
    passed, failed, skipped = 0, 0, {}
    for case in suites.iter("testcase"):
        if case.get("status") == "notrun":  # disabled, or filtered out
            continue
        reason = case.find("skipped")
        if case.find("failure") is not None:
            failed += 1
        elif reason is not None:
            skipped[f"{case.get('classname')}.{case.get('name')}"] = reason_text(reason)
        else:
            passed += 1
    return passed, failed, skipped


def reason_text(skipped):
    """The message of GTEST_SKIP on one line, without the place in the source before it."""
    lines = (skipped.text or skipped.get("message") or "").strip().splitlines()
    if len(lines) > 1 and ".cpp:" in lines[0]:
        lines = lines[1:]
    return " ".join(line.strip() for line in lines) or "no reason given"


def count_entry(entry, report):
    """Adds what CTest saw to what the program reported: a crash or a time-out is a failure the report does not have."""
    status = entry.get("status")
    if report is None:
        report = (int(status == "run"), 0, {})
        if status == "notrun":  # a skip that the program said itself, or a program that is not there
            message = entry.find("skipped")
            text = message.get("message", "") if message is not None else ""
            report = (0, 0, {entry.get("name"): text}) if "SKIP" in text else (0, 1, {})
    passed, failed, skipped = report
    return passed, max(failed, int(status == "fail")), skipped


def print_skips(skips):
    by_reason = {}
    for name, reason in skips:
        by_reason.setdefault(reason, []).append(name)
    for reason, names in sorted(by_reason.items()):
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        print(f"skipped {len(names)}: {reason}\n    {shown}")


def main(folder):
    results = pathlib.Path(folder)
    try:
        entries = list(xml.parse(results / "ctest.xml").getroot().iter("testcase"))
    except (OSError, xml.ParseError):
        entries = []  # CTest said why
    passed, failed, skips = 0, 0, []
    for entry in entries:
        if entry.get("status") == "disabled":
            continue
        more_passed, more_failed, more_skips = count_entry(entry, read_report(results / f"{entry.get('name')}.xml"))
        passed, failed = passed + more_passed, failed + more_failed
        skips += more_skips.items()
    print_skips(skips)
    print(f"{passed} passed, {failed} failed, {len(skips)} skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
