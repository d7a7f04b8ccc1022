#!/usr/bin/env bash
# `optimize` as users run it, without a GPU: a search, what it leaves behind, going on, Ctrl-C, and what is wrong usage.
# optimize_cli_test.sh CUDAL1 PYTHON
set -uo pipefail
cudal1=$1 python=$2
compgen -G '/usr/bin/clang-[12][0-9]' >/dev/null || [[ -n ${CUDAL1_CLANG:-} ]] || { echo 'skipped: no clang'; exit 77; }
"$python" -c 'import torch' 2>/dev/null || { echo 'skipped: no PyTorch'; exit 77; }
export CUDAL1_PYTHON=$python CUDAL1_CACHE_DIR CUDAL1_DATA_DIR
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CUDAL1_CACHE_DIR=$folder/cache CUDAL1_DATA_DIR=$folder/data
cd "$folder" || exit 1
failed=0
fail() { echo "FAILED: $1"; failed=1; }

mkdir modules
cat >modules/gate.py <<'PYTHON'
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(24))
    def forward(self, x):
        return torch.softmax(torch.relu(x) * self.scale, dim=-1) + x
def get_inputs(): return [torch.randn(6, 24)]
def get_init_inputs(): return []
PYTHON
{ echo 'import nothing_of_that_name'; cat modules/gate.py; } >modules/broken.py

field() { "$python" -c 'import json, sys; print(eval("lambda d: " + sys.argv[2])(json.load(open(sys.argv[1]))))' "$1" "$2"; }
search() { "$cudal1" optimize modules --device vgpu --seed 3 --archive archive.sqlite -o out --json "$@"; }

mkdir -p out/bench out/programs
echo mine | tee out/bench/mine.txt >out/programs/mine.cu
search --budget-evals 2 >first.json 2>first.err || fail "a suite of which one task can be searched: $(cat first.err)"
gate='next(r for r in d["results"] if r["task"] == "gate")'
[[ $(field first.json "$gate['judged']") == 2 ]] || fail 'two programs are judged'
[[ $(field first.json "$gate['best']['status']") == ok ]] || fail 'one of them is right'
[[ $(field first.json "$gate['best']['speedup'] > 1.2") == True ]] || fail 'and faster, by the prediction'
[[ $(field first.json "[b['baseline'] for b in $gate['baselines']]") == *eager* ]] || fail 'beside eager'
[[ $(field first.json "len($gate['techniques']) > 0") == True ]] || fail 'with what its parts do'
[[ $(field first.json "any('nothing_of_that_name' in (r['error'] or '') for r in d['results'])") == True ]] ||
  fail 'a broken module is named and costs nobody else anything'
[[ -s out/bench/mine.txt && -s out/programs/mine.cu ]] || fail 'what was in the folder is still there'
[[ -s out/gate/program.cu && -s out/gate/gate_fast/__init__.py ]] || fail 'program and package are there'
"$cudal1" eval --device vgpu --mode fast --no-archive modules/gate.py out/gate/program.cu | grep -q ' ok ' ||
  fail 'the program is one that eval takes'

written=$(stat -c %i out/gate/program.cu)  # another file each time that it is written
search --budget-evals 2 >kept.json 2>/dev/null || fail 'the same command again'
[[ $(stat -c %i out/gate/program.cu) == "$written" ]] || fail 'does nothing that is done'
[[ $(field kept.json "($gate['judged'], $gate['evaluations'])") == '(0, 2)' ]] || fail 'and says that it judged nothing'
[[ $(field kept.json "($gate['best'], $gate['techniques'])") == "$(field first.json "($gate['best'], $gate['techniques'])")" ]] ||
  fail 'but what was found before'
[[ $(field kept.json "len($gate['baselines'])") == 2 ]] || fail 'beside PyTorch, as before'
rm -r out/gate/gate_fast
search --budget-evals 2 >/dev/null 2>&1
[[ -s out/gate/gate_fast/__init__.py ]] || fail 'what is gone is made again'

search --budget-evals 2 --no-baselines --no-explain >again.json 2>/dev/null || fail 'the same command once more'
[[ $(field again.json "($gate['judged'], $gate['evaluations'])") == '(0, 2)' ]] || fail 'judges nothing again'
[[ $(field again.json "$gate['best']['status']") == ok ]] || fail 'and still has the best on record'
search --budget-evals 3 --no-baselines --no-explain >more.json 2>/dev/null || fail 'a larger budget'
[[ $(field more.json "$gate['judged']") == 1 ]] || fail 'goes on from there'

mkdir other && sed 's/relu/tanh/' modules/gate.py >other/gate.py
"$cudal1" optimize modules/gate.py other/gate.py --device vgpu --archive archive.sqlite -o twice --budget-evals 1 --no-explain \
  --json >twice.json 2>/dev/null || fail 'two tasks of the same name'
[[ -s twice/gate/program.cu && -s twice/gate_2/program.cu ]] || fail 'have a folder each'

# Attention by the library is one step: a CUDA Graph of it only copies what goes in and out.
cat >attention.py <<'PYTHON'
import torch
class Model(torch.nn.Module):
    def forward(self, q): return torch.nn.functional.scaled_dot_product_attention(q, q, q)
def get_inputs(): return [torch.randn(1, 2, 9, 8)]
def get_init_inputs(): return []
PYTHON
"$cudal1" optimize attention.py --device vgpu --archive archive.sqlite -o slow --budget-evals 1 --no-baselines --no-explain \
  2>/dev/null | grep -q 'nothing that was tried is faster' || fail 'a program that is slower is not praised'

# Two tasks at once: modules/gate.py and other/gate.py.
searches_of() { pgrep -P "$1" -f cudal1-search; }
start_two() {  # OUT: searches without end; goes on when both have judged something
  local out=$1
  "$cudal1" optimize modules/gate.py other/gate.py --device vgpu --at-once 2 --archive "$out.sqlite" -o "$out" \
    --budget-evals 500 --no-baselines --no-explain --json >"$out.json" 2>"$out.err" &
  two=$!
  most_at_once=0
  for _ in {1..300}; do
    now=$(searches_of "$two" | wc -l)
    ((now > most_at_once)) && most_at_once=$now
    [[ -s $out/gate/progress.json && -s $out/gate_2/progress.json ]] && return
    sleep 0.2
  done
  fail "two tasks make progress: $(cat "$out.err")"
}
evaluations() { field "$1/progress.json" 'd["searches"][0]["evaluations"]'; }

start_two killed
[[ $most_at_once == 2 ]] || fail "two tasks are searched at once, not $most_at_once"
kill -9 "$(searches_of "$two" | head -1)"
sleep 2
kill -0 "$two" || fail 'the other one goes on'
kill -INT "$two"
wait "$two" || fail "one of two has a result: $(cat killed.err)"
[[ $(field killed.json 'sum("signal 9" in (r["error"] or "") for r in d["results"])') == 1 ]] || fail 'the killed one is an error'
[[ $(field killed.json 'sum((r["best"] or {}).get("status") == "ok" and r["stopped"] for r in d["results"])') == 1 ]] ||
  fail 'the other one has its result'
[[ $(grep -c 'signal 9' killed.err) == 1 ]] || fail "the error is one line: $(cat killed.err)"
for folder_of in gate gate_2; do
  (($(evaluations killed/$folder_of) > 0)) || fail "what was judged for $folder_of is counted"
done
read -r tasks recorded < <("$python" -c 'import sqlite3; print(*sqlite3.connect("killed.sqlite").execute(
  "SELECT count(DISTINCT task_hash), count(*) FROM evaluations").fetchone())')
judged=$(($(evaluations killed/gate) + $(evaluations killed/gate_2)))
((tasks == 2 && (recorded == judged || recorded == judged + 1))) ||  # killed between its record and its count
  fail "$judged programs of two tasks are on record, not $recorded of $tasks"

start_two stopped
kill -INT "$two"
wait "$two" || fail "Ctrl-C is no failure: $(cat stopped.err)"
[[ $(field stopped.json '[(r["stopped"], r["judged"] > 0) for r in d["results"]]') == '[(True, True), (True, True)]' ]] ||
  fail 'Ctrl-C ends both'
[[ -s stopped/gate/program.cu && -s stopped/gate_2/program.cu ]] || fail 'and keeps what was found'

start_two ended
searches=$(searches_of "$two")
kill -INT "$two"
sleep 0.1  # two signals that come together are one
kill -INT "$two"
wait "$two"
[[ $? == 130 ]] || fail 'a second Ctrl-C ends the command'
sleep 1
for search in $searches; do
  [[ $(ps -o stat= -p "$search") == [!Z]* ]] && fail 'and its searches with it'  # Z: ended, and nobody has asked yet
done

# A stand-in for the process that searches: its GPU fails once; it says what it was asked.
mkdir binaries
for file in "$(dirname "$(readlink -f "$cudal1")")"/*; do ln -s "$file" binaries/; done
rm binaries/cudal1 binaries/cudal1-search
cp "$cudal1" binaries/cudal1  # it looks for the others beside itself
cat >binaries/cudal1-search <<PYTHON
#!$python
import json, os, socket
line = socket.socket(fileno=0).makefile("rw")
asked = json.loads(line.readline())
first = not os.path.exists("$folder/failed once")
open("$folder/failed once", "a").close()
fields = {"judged": asked["judged"] + 3, "right": 1, "seconds": 1.0, "best": None, "asked": asked}
report = {"name": asked["name"], "error": "the GPU has failed" if first else "", "wants_another_process": first, "headline": "",
          "head": "", "tail": "", "fields": fields, "device": "", "degenerate": False, "program": "", "package": ""}
line.write(json.dumps({"report": report}) + "\n")
line.flush()
PYTHON
chmod +x binaries/cudal1-search
asked() {  # WHAT ARGUMENTS…: of each task
  local what=$1
  shift
  binaries/cudal1 optimize modules/gate.py other/gate.py --device vgpu -o asked --json "$@" >asked.json 2>asked.err || cat asked.err
  field asked.json "[r['asked']['$what'] for r in d['results']]"
}
binaries/cudal1 optimize modules/gate.py --device vgpu -o failing --json >failing.json 2>&1 || fail "$(cat failing.json)"
[[ $(field failing.json 'd["results"][0]["judged"]') == 6 ]] ||
  fail "another process goes on, and what the first one judged counts: $(cat failing.json)"
seeds=$(asked seed --seed 5 --at-once 1)
[[ $seeds == "$(asked seed --seed 5 --at-once 2)" ]] || fail 'a seed means the same however many are searched at once'
[[ $seeds != "$(asked seed --seed 6)" && $(field asked.json 'len({r["asked"]["seed"] for r in d["results"]})') == 2 ]] ||
  fail 'seeds and tasks differ'
asked seconds --budget-minutes 10 --at-once 1 >/dev/null
[[ $(field asked.json '[round(r["asked"]["seconds"] / 30) for r in d["results"]]') == '[10, 20]' ]] ||
  fail 'half of the time for the first of two, and what it leaves for the second'
asked seconds --budget-minutes 10 --at-once 2 >/dev/null
[[ $(field asked.json '[round(r["asked"]["seconds"] / 30) for r in d["results"]]') == '[20, 20]' ]] ||
  fail 'all of the time for each of two at once'

cat >unrunnable.py <<'PYTHON'
import torch
class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.nn.functional.binary_cross_entropy(x.sigmoid(), y)
def get_inputs(): return [torch.randn(6, 24), torch.rand(6, 24).round()]
def get_init_inputs(): return []
PYTHON
"$cudal1" optimize unrunnable.py --device vgpu -o unrunnable --budget-evals 1 --no-explain >unrunnable.out 2>&1
grep -q 'none that is right.*binary_cross_entropy_1.*between 0 and 1' unrunnable.out ||
  fail "why none is right is said: $(cat unrunnable.out)"

"$cudal1" optimize modules/broken.py --device vgpu >/dev/null 2>&1
[[ $? == 1 ]] || fail 'nothing could be done: exit code 1'
"$cudal1" optimize modules/gate.py --budget-evals none >/dev/null 2>&1
[[ $? == 2 ]] || fail 'wrong usage: exit code 2'
touch a_file
"$cudal1" optimize modules/gate.py --device vgpu -o a_file >a_file.out 2>&1
[[ $? == 2 ]] && grep -q -- '--output a_file: that is a file' a_file.out || fail "an output that is a file: $(cat a_file.out)"
exit "$failed"
