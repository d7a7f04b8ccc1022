#!/usr/bin/env bash
# `bench` on small modules, predicted and on the processor. Usage: bench_cli_test.sh BINARY PYTHON packages|no-packages;
# 77 without torch
set -uo pipefail
cudal1=$1 python=$2 packages=$3
modules=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/modules
"$python" -c 'import torch' 2>/dev/null || { echo "SKIP: $python has no torch"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CUDAL1_CACHE_DIR=$work/cache CUDAL1_DATA_DIR=$work/data CUDAL1_PYTHON=$python OMP_NUM_THREADS=1
failed=0

# expect NAME EXIT_CODE COMMAND…: runs it; its output goes to $work/out, its messages to $work/err
expect() {
  local name=$1 code=$2 actual
  shift 2
  "$@" >"$work/out" 2>"$work/err" </dev/null
  actual=$?
  [[ $actual == "$code" ]] || fail "$name: exit code $actual, expected $code"
}
fail() { failed=$((failed + 1)); echo "FAILED $1"; cat "$work/out" "$work/err"; }
said() { grep -qE -- "$2" "$work/$1" || fail "no line of $1 matches: $2"; }  # said out|err PATTERN
lines() { [[ $(wc -l <"$1") == "$2" ]] || fail "$1 has not $2 lines"; }

module() {  # module FILE FORWARD INPUTS
  printf 'import os, torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        %s\ndef get_inputs(): return [%s]\n' \
    "$2" "$3" >"$1"
}
mkdir -p "$work/my suite/level1" "$work/programs" "$work/empty"
cd "$work" || exit 1
module 'my suite/level1/1_Scale and add.py' 'return x * 2.0 + 1.0' 'torch.rand(256, 64)'
module 'my suite/level1/2_Sum.py' 'return x.sum(dim=1)' 'torch.rand(64, 64)'
module 'my suite/level1/3_raises.py' 'return x' 'int("three")'
printf 'class Model(:\n' >'my suite/level1/4_syntax.py'

expect 'predicted' 0 "$cudal1" bench 'my suite' --device vgpu -o first --jobs 2
said out '^level 1 +eager +4 +2 '
said out '^level 1 +best +4 +2 '
said out '^library ops only +eager +2 +2 '
said out '^level1/1_Scale and add +ok '
said out 'times of 2 tasks are predicted by a model, not measured'
said out 'not run for 2 tasks: compile: not predicted'
said err '^cudal1: level1/3_raises: no_task: .*3_raises.py:5: get_inputs raises ValueError'
said err '^cudal1: level1/4_syntax: no_task: .*4_syntax.py:1: invalid syntax'
lines first/results.jsonl 4
[[ ! -e first/timing ]] || fail 'predicted times as measured ones'
for file in results.csv eval_results.json report.md speedups_level_1.svg; do [[ -s first/$file ]] || fail "no $file"; done

"$python" - first/results.jsonl <<'PYTHON' || fail 'what was never found out is null'
import json, sys
rows = {row["name"]: row for row in map(json.loads, open(sys.argv[1]))}
for name in ("3_raises", "4_syntax"):
    assert rows[name]["device"] is None and rows[name]["predicted"] is None, rows[name]
assert rows["2_Sum"]["device"] and rows["2_Sum"]["predicted"] is True, rows["2_Sum"]
PYTHON
grep -q ' on [^(]*(predicted)$' first/report.md || fail 'a device in the title'

# What is there is not done again; what failed is.
expect 'a second call goes on from there' 0 "$cudal1" bench 'my suite' --device vgpu -o first --jobs 2
lines first/results.jsonl 6
said out '^level 1 +eager +4 +2 '

# A program with a kernel of its own, one that is wrong, one task without any.
cat >'programs/Scale and add.cu' <<'CUDA'
//! kernel scale replaces mul_1 add_1 : grid=(ceil_div(numel(x), 256)) block=256 args=(x, add_1, i32:numel(x))
extern "C" __global__ void scale(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f + 1.0f;
}
CUDA
sed 's/1.0f/3.0f/; s/mul_1 add_1/sum_1/; s/add_1/sum_1/g; s/numel(x), 256/64, 256/; s/numel(x))/64)/' 'programs/Scale and add.cu' >programs/level_1_problem_2_sample_0_kernel.cu
expect 'programs from a folder' 0 "$cudal1" bench 'my suite' --id 1-2 --device vgpu --programs programs --json --jobs 2
"$python" - "$work/out" <<'PYTHON' || fail 'programs are judged'
import json, sys
rows = {row["name"]: row for row in json.load(open(sys.argv[1]))["tasks"]}
first, second = rows["1_Scale and add"], rows["2_Sum"]
assert first["status"] == "ok" and first["own_kernels"] and first["predicted"], first
assert second["status"] == "wrong_result" and second["own_kernels"], second
PYTHON

# Solutions in Python: judged and timed in processes of their own, beside baselines that are measured as ever.
solution() {  # solution FORWARD
  printf 'import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        %s\n' "$1"
}
mkdir solutions
module 'my suite/level1/5_Noise.py' 'return torch.nn.functional.dropout(x, 0.5)' 'torch.rand(64, 64)'
solution 'return torch.add(x * 2.0, 1.0)' >solutions/level_1_problem_1_sample_0_kernel.py
solution 'return x.sum(dim=1) * 1.01' >solutions/level_1_problem_2_sample_0_kernel.py
solution 'return x' >solutions/level_1_problem_5_sample_0_kernel.py
expect 'solutions are judged' 0 "$cudal1" bench 'my suite' --id 2,5 --device cpu --programs solutions --baselines eager --seconds 1 --json \
  --jobs 1
"$python" - "$work/out" <<'PYTHON' || fail 'solutions are judged'
import json, sys
rows = {row["name"]: row for row in json.load(open(sys.argv[1]))["tasks"]}
wrong, random = rows["2_Sum"], rows["5_Noise"]
assert wrong["status"] == "wrong_result", wrong
assert random["status"] == "unsupported" and "random numbers" in random["error"], random
PYTHON
# Who sleeps takes the same time on a busy machine. What a very busy one leaves unsettled comes again.
module 'my suite/level1/6_Sleep.py' '__import__("time").sleep(0.12); return x + 1.0' 'torch.rand(64)'
solution '__import__("time").sleep(0.06); return torch.add(x, 1.0)' >solutions/level_1_problem_6_sample_0_kernel.py
for attempt in 1 2 3; do
  expect 'a solution is timed' 0 "$cudal1" bench 'my suite' --id 6 --device cpu --programs solutions --baselines eager,cudnn-benchmark \
    --seconds 1 --json --jobs 1
  grep -q '"status": "unstable"' "$work/out" || break
done
"$python" - "$work/out" <<'PYTHON' || fail 'solutions are timed'
import json, sys
(timed,) = json.load(open(sys.argv[1]))["tasks"]
assert timed["status"] == "ok", timed
times = {way["way"]: way["device_ms"] for way in timed["ways"]}
assert len(times["program"]) == len(times["eager"]) == len(times["cudnn-benchmark"]) >= 7, timed
middle = sorted(eager / program for eager, program in zip(times["eager"], times["program"]))[len(times["eager"]) // 2]
assert 1.6 < middle < 2.2, middle  # twice as fast, less what a busy machine adds
assert min(times["eager"]) > 119.0, timed
assert timed["program"] == "level_1_problem_6_sample_0_kernel.py" and not timed["own_kernels"], timed
PYTHON
"$python" - solutions.jsonl <<'PYTHON'
import json, sys
text = open("solutions/level_1_problem_1_sample_0_kernel.py").read()
with open(sys.argv[1], "w") as file:
    file.write(json.dumps({"level_id": 1, "task_id": 1, "custom_code": "```python\n" + text.replace("1.0)", "2.0)") + "```"}) + "\n{broken\n")
PYTHON
expect 'solutions in lines' 0 "$cudal1" bench 'my suite' --id 1-2 --device cpu --programs solutions.jsonl --baselines eager --jobs 1
said out '^level1/1_Scale and add +wrong_result '
said out '^level 1 +best +2 +0 +- '
said err 'solutions.jsonl:2: no JSON object'
said err '^cudal1: level1/2_Sum: no_program'
expect 'solutions are not predicted' 1 "$cudal1" bench 'my suite' --id 1 --device vgpu --programs solutions.jsonl
said err 'unsupported: solutions in Python are measured, not predicted'
rm 'my suite/level1/5_Noise.py' 'my suite/level1/6_Sleep.py'

expect 'a share' 0 "$cudal1" bench 'my suite' --id 1-2 --device vgpu --split 1/2 -o share1 --jobs 2
grep -q . "$work/out" || fail 'a table'
expect 'the other share' 0 "$cudal1" bench 'my suite' --id 1-2 --device vgpu --split 2/2 -o share2 --jobs 2
expect 'merged' 0 "$cudal1" bench --merge share1 share2 -o merged
lines merged/results.jsonl 2
said out '^level 1 +eager +2 +2 '
[[ -s merged/report.md ]] || fail 'a merged report'

if [[ $packages == packages ]]; then
  expect 'measured on the processor' 0 "$cudal1" bench "$modules" --device cpu --baselines eager,cudnn-benchmark,channels-last \
    --seconds 0.3 -o cpu --jobs 2
  said out '^all +eager +3 +[0-3] '
  said out 'not run for 2 tasks: channels-last: '
  lines cpu/results.jsonl 3
  "$python" - cpu/results.jsonl <<'PYTHON' || fail 'every way is timed as often'
import json, sys
for row in map(json.loads, open(sys.argv[1])):
    settled = row["status"] == "ok" and not row["error"]  # on a busy machine times need not settle
    assert settled or (row["status"] == "unstable" and "does not settle" in row["error"]), row
    assert row["device"] == "the processor" and row["predicted"] is False, row
    rounds = {len(way["device_ms"]) for way in row["ways"] if "why_not" not in way}
    ways = [way["way"] for way in row["ways"] if "why_not" not in way]
    assert len(rounds) == 1 and min(rounds) >= 7 and {"program", "eager", "cudnn-benchmark"} <= set(ways), row
PYTHON
  [[ -s cpu/level2/eval_results.json ]] || fail 'results by level'

  # Memory is short once, while a worker is made or while a program is judged: both get another try, alone.
  mkdir -p short/level1 binaries
  module short/level1/1_Worker.py 'return x + 1.0' 'torch.rand(64)'
  cat >>short/level1/1_Worker.py <<PYTHON
import sys
if sys.argv[0].endswith("worker.py") and not os.path.exists("$work/made once"):
    open("$work/made once", "w").close()
    raise MemoryError("not enough memory")
PYTHON
  module short/level1/2_Judge.py 'return x * 3.0' 'torch.rand(64)'  # or the other: the first judge is killed
  binaries=$(dirname "$(readlink -f "$cudal1")")
  for file in "$binaries"/*; do ln -s "$file" "binaries/$(basename "$file")"; done
  rm binaries/cudal1 binaries/cudal1-prepare
  cp "$binaries/cudal1" binaries/cudal1  # it looks for the others beside itself
  cat >binaries/cudal1-prepare <<BASH
#!/usr/bin/env bash
mkdir "$work/judged once" 2>/dev/null && kill -9 \$\$
exec "$binaries/cudal1-prepare"
BASH
  chmod +x binaries/cudal1-prepare
  expect 'memory that was short' 0 binaries/cudal1 bench short --device cpu --baselines eager --seconds 0.1 -o short_cpu --jobs 2
  [[ -e "made once" && -d "judged once" ]] || fail 'memory was never short'
  said out '^level1/1_Worker +(ok|unstable) '
  said out '^level1/2_Judge +(ok|unstable) '
  lines short_cpu/results.jsonl 2
fi

expect 'nothing could be done' 1 "$cudal1" bench 'my suite' --id 3-4 --device vgpu
expect 'an empty suite' 1 "$cudal1" bench empty --device vgpu
said err '^cudal1: empty: there is no task in it$'
expect 'no suite' 2 "$cudal1" bench
expect 'merging to nowhere' 2 "$cudal1" bench --merge share1
expect 'a suite and a merger' 2 "$cudal1" bench 'my suite' --merge share1 share2 -o merged
said err '^cudal1: --merge measures nothing: no suite and no choice of its tasks goes with it$'
expect 'a choice and a merger' 2 "$cudal1" bench --merge share1 share2 --id 1 -o merged
expect 'a GPU that nobody knows' 2 "$cudal1" bench 'my suite' --device vgpu --gpu foo
said err "^cudal1: --gpu: there is no GPU profile 'foo'; there are .*h200"
touch file
expect 'no folder' 1 "$cudal1" bench 'my suite' --device vgpu -o file
said err '^cudal1: file: Not a directory'
expect 'nothing to merge' 1 "$cudal1" bench --merge nowhere -o merged2
expect 'a wrong baseline' 2 "$cudal1" bench 'my suite' --baselines eager,magic
expect 'no programs' 1 "$cudal1" bench 'my suite' --device vgpu --programs empty
said err 'there is no program in it'
printf '%s failed\n' "$failed"
[[ $failed == 0 ]]
