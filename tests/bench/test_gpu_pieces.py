"""bench/gpu.sh and the shares of bench/writer.sh, in a copy of the folder where stand-ins take the place of the programs."""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "python"))
import gpu_turns  # noqa: E402
SCRIPTS = ("common.sh", "pieces.sh", "suite_shares.sh", "gpu.sh", "writer.sh")

# Two tasks in each of two shares. A file `slow` makes it a search that ends when it is asked to, before it is through.
CUDAL1 = """#!{python}
import json, pathlib, signal, sys, time
words = sys.argv[1:]
here = pathlib.Path(__file__).parent
if words[0] == "tasks":
    share = words[words.index("--split") + 1] if "--split" in words else "all"
    print(json.dumps({{"tasks": [0, 1] if share != "all" else [0, 1, 2, 3]}}))
elif words[0] == "optimize":
    share = words[words.index("--split") + 1]
    stopped = (here / "slow").exists() and share == "2/2"
    if stopped:
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.pause()
    folder = pathlib.Path(words[words.index("-o") + 1])
    (folder / "bench").mkdir(parents=True, exist_ok=True)
    (folder / "bench" / "results.jsonl").write_text("{{}}\\n")
    results = [{{"task": f"{{share}}:{{i}}", "stopped": stopped, "best": {{"status": "ok"}}, "replaced_share": 1.0}} for i in range(2)]
    print(json.dumps({{"results": results}}))
    with (here / "searched").open("a") as log:
        log.write(share + "\\n")
elif words[0] == "bench":
    folder = pathlib.Path(words[words.index("-o") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    shares = words[words.index("--merge") + 1:words.index("-o")]
    line = "ok,{{}},0,1,t,2.0,3.0,1.9\\n"
    (folder / "results.csv").write_text(
        "status,task,degenerate,level,name,speedup_best,speedup_eager,high_best\\n" + 2 * len(shares) * line)
    print("a table")
"""

SEARCH_STAGES = "print('{\"proposals\": {\"ok\": 40}}')"


def executable(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture
def project(tmp_path):
    for name in SCRIPTS:
        (tmp_path / "bench").mkdir(exist_ok=True)
        shutil.copy(ROOT / "bench" / name, tmp_path / "bench" / name)
    executable(tmp_path / "cudal1", CUDAL1.format(python=sys.executable))
    executable(tmp_path / "tools" / "nvidia-smi", "#!/bin/sh\necho a GPU\n")
    for name in ("search_stages.py", "suite_rows.py"):
        (tmp_path / "bench" / "writer").mkdir(exist_ok=True)
        shutil.copy(ROOT / "bench" / "writer" / name, tmp_path / "bench" / "writer" / name)
    (tmp_path / "bench" / "writer" / "search_stages.py").write_text(SEARCH_STAGES)
    shutil.copytree(ROOT / "bench" / "python", tmp_path / "bench" / "python")
    (tmp_path / ".setup").mkdir()
    (tmp_path / ".setup" / "environment.sh").write_text(f"CUDAL1_PYTHON={sys.executable}\n")
    (tmp_path / "suite.jsonl").write_text("{}\n")
    return tmp_path


def run(project, script, *arguments):
    environment = {**os.environ, "PATH": f"{project / 'tools'}:{os.environ['PATH']}", "CUDAL1_COMMIT": "abc"}
    environment.pop("CUDAL1_RECORDS", None)
    return subprocess.run([project / "bench" / script, *arguments], capture_output=True, text=True, check=False, cwd=project,
                          timeout=60, env=environment)


def searched(project):
    file = project / "searched"
    return file.read_text().split() if file.exists() else []


def rows(project):
    return {row["what"]: row for row in json.loads((project / "bench" / "results" / "writer.json").read_text())["rows"]}


def test_shares_follow_each_other_and_those_that_are_kept_are_not_searched_again(project):
    first = run(project, "writer.sh", "suite", "suite.jsonl", "--suite", "paper", "--shares", "2")
    assert first.returncode == 0, first.stderr
    assert searched(project) == ["1/2", "2/2"]
    assert rows(project)["verified programs"]["value"] == 4 and rows(project)["verified programs"]["holds"]
    again = run(project, "writer.sh", "suite", "suite.jsonl", "--suite", "paper", "--shares", "2")
    assert again.returncode == 0 and searched(project) == ["1/2", "2/2"], again.stderr


def test_a_share_that_time_was_too_short_for_is_not_kept_and_goes_on(project):
    (project / "slow").touch()
    cut = run(project, "writer.sh", "suite", "suite.jsonl", "--suite", "paper", "--shares", "2", "--minutes", "0.05")
    assert cut.returncode == 3 and "not through" in cut.stderr, cut.stderr
    kept = project / "bench" / "results" / "writer_shares"
    assert [folder.name for folder in kept.iterdir()] == ["suite_paper_split_1_2"]
    assert rows(project)["verified programs"]["value"] == 2 and not rows(project)["verified programs"]["holds"]
    (project / "slow").unlink()
    assert run(project, "writer.sh", "suite", "suite.jsonl", "--suite", "paper", "--shares", "2").returncode == 0
    assert searched(project)[-1] == "2/2" and searched(project).count("1/2") == 1
    assert rows(project)["verified programs"]["holds"]


@pytest.mark.parametrize("words", [[], ["suite"], ["suite", "nowhere.jsonl"], ["suite", "suite.jsonl", "--minutes", "soon"],
                                   ["suite", "suite.jsonl", "--shares", "0"], ["suite", "suite.jsonl", "--shares"], ["walls"]])
def test_wrong_words_of_the_writers_bench_are_wrong_usage(project, words):
    assert run(project, "writer.sh", *words).returncode == 2


def stand_in(project, script, text):
    executable(project / "bench" / script, f"#!/bin/bash\n{text}\n")


def test_steps_come_in_their_order_and_one_that_is_through_is_not_done_again(project):
    stand_in(project, "writer.sh", 'echo "writer $*" >>done')
    stand_in(project, "generator.sh", 'echo "generator $*" >>done')
    words = ["--suite", "suite.jsonl", "--model", "suite.jsonl", "generator", "suite"]
    assert run(project, "gpu.sh", *words).returncode == 0  # in the order in which they are named
    file = project / "suite.jsonl"
    assert (project / "done").read_text().splitlines() == [
        f"generator --model {file} gpu", f"writer suite {file} --suite paper --shares 3"]
    assert run(project, "gpu.sh", *words).returncode == 0
    assert len((project / "done").read_text().splitlines()) == 2


def test_what_is_cut_off_goes_on_and_what_follows_waits(project):
    stand_in(project, "writer.sh", "[[ -e ready ]] || exit 3; echo through >>done")
    stand_in(project, "generator.sh", "echo follows >>done")
    words = ["--suite", "suite.jsonl", "--model", "suite.jsonl", "--minutes", "5", "suite", "generator"]
    assert run(project, "gpu.sh", *words).returncode == 3
    assert not (project / "done").exists()
    (project / "ready").touch()
    assert run(project, "gpu.sh", *words).returncode == 0
    assert (project / "done").read_text().split() == ["through", "follows"]


def test_a_step_that_fails_is_said_and_the_others_are_done(project):
    stand_in(project, "writer.sh", "echo broken; exit 1")
    stand_in(project, "generator.sh", "echo follows >>done")
    done = run(project, "gpu.sh", "--suite", "suite.jsonl", "--model", "suite.jsonl", "suite", "generator")
    assert done.returncode == 1 and "suite ended with 1" in done.stderr and "broken" in done.stdout
    assert (project / "done").read_text() == "follows\n"


def test_tests_that_cannot_be_built_are_built_again_and_others_are_measured(project):
    executable(project / "tools" / "cmake", '#!/bin/sh\necho built >>tried\n[ -e mended ]\n')
    executable(project / "tools" / "ctest", "#!/bin/sh\n")
    stand_in(project, "writer.sh", "echo follows >>done")
    words = ["--suite", "suite.jsonl", "checks", "suite"]
    broken = run(project, "gpu.sh", *words)
    assert broken.returncode == 1 and "checks ended with 4" in broken.stderr
    assert (project / "done").read_text() == "follows\n"
    (project / "mended").touch()
    assert run(project, "gpu.sh", *words).returncode == 0
    assert (project / "done").read_text() == "follows\n"


def test_nothing_is_begun_where_the_program_cannot_be_built(project):
    executable(project / "cudal1", "#!/bin/sh\nexit 1\n")
    stand_in(project, "writer.sh", "echo begun >>done")
    done = run(project, "gpu.sh", "--suite", "suite.jsonl", "suite")
    assert done.returncode == 1 and "could not be built" in done.stderr and not (project / "done").exists()


def test_what_a_step_lacks_is_named(project):
    done = run(project, "gpu.sh", "suite", "gap", "trained_suite")
    assert done.returncode == 1
    assert "suite, which needs --suite" in done.stderr and "gap, which needs --model" in done.stderr
    assert "trained_suite, which needs --suite --model" in done.stderr


def test_a_machine_without_a_gpu_is_told_so(project):
    executable(project / "tools" / "nvidia-smi", "#!/bin/sh\nexit 9\n")
    done = run(project, "gpu.sh", "kernels")
    assert done.returncode == 1 and "no NVIDIA GPU" in done.stderr


def names_in(file):
    with tarfile.open(file) as kept:
        return set(kept.getnames())


def test_what_is_worth_keeping_is_brought_home_also_of_a_run_that_is_cut_off(project):
    stand_in(project, "writer.sh", "mkdir -p bench/results; echo row >bench/results/writer.json; exit 3")
    share = project / "build" / "writer" / "share"
    (share / "task" / "task_fast" / "cubins").mkdir(parents=True)
    for name in ("task/report.json", "task/task_fast/weights.safetensors", "task/task_fast/cubins/sm_90.json"):
        (share / name).write_text("{}")
    archive = sqlite3.connect(share / "archive.sqlite")
    archive.execute("PRAGMA journal_mode=WAL")
    archive.execute("CREATE TABLE found (speedup REAL)")
    archive.execute("INSERT INTO found VALUES (2.5)")
    archive.commit()  # and still open: the row is in the log beside the file
    assert run(project, "gpu.sh", "--suite", "suite.jsonl", "--bring", "home", "suite").returncode == 3
    assert "bench/results/writer.json" in names_in(project / "home" / "results.tar.gz")
    records = names_in(project / "home" / "records.tar.gz")
    assert {"gpu/suite.log", "writer/share/task/report.json", "writer/share/archive.sqlite"} <= records
    assert not any("task_fast/" in name for name in records)
    with tarfile.open(project / "home" / "records.tar.gz") as kept:
        kept.extract("writer/share/archive.sqlite", project)
    assert sqlite3.connect(project / "writer/share/archive.sqlite").execute("SELECT speedup FROM found").fetchall() == [(2.5,)]


def test_turns_on_a_gpu_are_counted_once_where_they_overlap():
    turns = gpu_turns.turns_in("10 14 check\n11 15 check\n15 17 measurement\n18 20 check\n22 30 mea")
    assert turns == [(10.0, 14.0, "check"), (11.0, 15.0, "check"), (15.0, 17.0, "measurement"), (18.0, 20.0, "check")]
    assert gpu_turns.covered([(10.0, 14.0), (11.0, 15.0), (18.0, 20.0), (18.5, 19.0)]) == 7.0
    first, second = (line.split() for line in gpu_turns.table(turns, 6.0)[1:])
    assert first == ["0", "0", "0.0", "0.0", "2", "5.0", "8.0", "1", "1.0", "1.0", "0.0"]
    assert second == ["6", "0", "0.0", "0.0", "1", "2.0", "2.0", "1", "1.0", "1.0", "1.0"]
