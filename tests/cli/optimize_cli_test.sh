#!/usr/bin/env bash
# `optimize` as users run it, without a GPU: a search, what it leaves behind, going on, Ctrl-C, and what is wrong usage.
# optimize_cli_test.sh CUDAL1 PYTHON
set -uo pipefail
cudal1=$1 python=$2
compgen -G '/usr/bin/clang-[12][0-9]' >/dev/null || [[ -n ${CUDAL1_CLANG:-} ]] || { echo 'skipped: no clang'; exit 77; }
"$python" -c 'import torch' 2>/dev/null || { echo 'skipped: no PyTorch'; exit 77; }
export CUDAL1_PYTHON=$python CUDAL1_CACHE_DIR
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CUDAL1_CACHE_DIR=$folder/cache
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

search --budget-evals 2 --no-baselines --no-explain >again.json 2>/dev/null || fail 'the same command once more'
[[ $(field again.json "($gate['judged'], $gate['evaluations'])") == '(0, 2)' ]] || fail 'judges nothing again'
[[ $(field again.json "$gate['best']['status']") == ok ]] || fail 'and still has the best on record'
search --budget-evals 3 --no-baselines --no-explain >more.json 2>/dev/null || fail 'a larger budget'
[[ $(field more.json "$gate['judged']") == 1 ]] || fail 'goes on from there'

mkdir other && sed 's/relu/tanh/' modules/gate.py >other/gate.py
"$cudal1" optimize modules/gate.py other/gate.py --device vgpu --archive archive.sqlite -o twice --budget-evals 1 --no-explain \
  --json >twice.json 2>/dev/null || fail 'two tasks of the same name'
[[ -s twice/gate/program.cu && -s twice/gate_2/program.cu ]] || fail 'have a folder each'

"$cudal1" optimize modules/gate.py --device vgpu --archive archive.sqlite -o stopped --budget-evals 500 --no-baselines \
  --no-explain >stopped.txt 2>&1 &
sleep 6
kill -INT $!
wait $! || fail 'Ctrl-C is no failure'
grep -q 'stopped' stopped.txt && [[ -s stopped/gate/program.cu ]] || fail "Ctrl-C keeps what was found: $(cat stopped.txt)"

"$cudal1" optimize modules/broken.py --device vgpu >/dev/null 2>&1
[[ $? == 1 ]] || fail 'nothing could be done: exit code 1'
"$cudal1" optimize modules/gate.py --budget-evals none >/dev/null 2>&1
[[ $? == 2 ]] || fail 'wrong usage: exit code 2'
exit "$failed"
