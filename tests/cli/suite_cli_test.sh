#!/usr/bin/env bash
# `tasks` and `check` on a suite with good and broken modules. Usage: suite_cli_test.sh BINARY PYTHON; 77 without torch
set -uo pipefail
cudal1=$1 python=$2
"$python" -c 'import torch' 2>/dev/null || { echo "SKIP: $python has no torch"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CUDAL1_CACHE_DIR=$work/cache CUDAL1_DATA_DIR=$work/data CUDAL1_PYTHON=$python
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
lines() { [[ $(wc -l <"$work/$1") == "$2" ]] || fail "$1 has not $2 lines"; }

module() {  # module FILE CONSTRUCTOR FORWARD INPUTS
  printf 'import torch\nfrom torch import nn\nimport torch.nn.functional as F\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        %s\n    def forward(self, x):\n        %s\ndef get_inputs(): return [%s]\n' \
    "$2" "$3" "$4" >"$1"
}
mkdir -p "$work/my suite/level1"
cd "$work/my suite/level1" || exit 1
module '1_Linear Block.py' 'self.fc = nn.Linear(8, 4); self.bn = nn.BatchNorm1d(4); self.drop = nn.Dropout(0.5)' \
  'return self.drop(F.gelu(self.bn(self.fc(x)))), x.argmax(1)' 'torch.randn(16, 8)'
module 2_autocast.py 'self.fc = nn.Linear(8, 4)' \
  'with torch.autocast("cpu", dtype=torch.bfloat16): return self.fc(x), x.t().half().sum(0)' 'torch.rand(16, 8).t().t()'
module 3_degenerate.py 'pass' 'return (x - x) * 2' 'torch.rand(4, 4)'
printf 'class Model(:\n' >4_syntax.py
printf 'import no_such_package\nclass Model: pass\n' >5_package.py
printf 'def get_inputs(): return []\n' >6_no_model.py
module 7_raises.py 'pass' 'return x' 'int("three")'
module 8_sizes.py 'pass' 'return x[x > 0.5]' 'torch.rand(8)'
module 9_type.py 'pass' 'return "text"' 'torch.rand(8)'
cd "$work" || exit 1

expect 'a list' 0 "$cudal1" tasks 'my suite' --level 1 --id 1,3-4
lines out 4
said out '^my suite +1 +1 +1_Linear Block$'
expect 'a list as JSON' 0 "$cudal1" tasks 'my suite' --name syntax,autocast --json
[[ $(grep -c '"name"' "$work/out") == 2 ]] || fail 'two tasks'

expect 'what can be exported is exported' 0 "$cudal1" tasks 'my suite' --export exported --jobs 2
said out '^3 of 9 tasks exported to exported$'
lines err 6
said err '^cudal1: .*4_syntax.py:1: invalid syntax$'
said err "^cudal1: .*5_package.py:1: needs the package 'no_such_package'"
said err '^cudal1: .*6_no_model.py: defines no Model'
said err '^cudal1: .*7_raises.py:10: get_inputs raises ValueError'
said err '^cudal1: .*8_sizes.py:9: .* whose size depends on values'
said err '^cudal1: .*9_type.py:8: forward returns a str among'
[[ -e "exported/level1/1_Linear Block/weights.safetensors" && ! -e exported/level1/4_syntax ]] || fail 'folders of what was exported'

expect 'modules and tasks agree' 0 "$cudal1" check 'my suite' --id 1-4 --device cpu
said out '^ok .* level1/1_Linear Block  (equal bits|[0-9.e-]+ of the budget)$'
said out '^ok .* level1/2_autocast  '
said out '^ok .* level1/3_degenerate  equal bits, degenerate$'
said out '^FAIL .* level1/4_syntax  .*invalid syntax$'
said out '^3 of 4 tasks agree with eager PyTorch on cpu'
expect 'an exported folder is compared with its source' 0 "$cudal1" check exported --id 3 --device cpu --json
said out '"budget_share": 0.0'

# A task that was tampered with does not agree.
sed -i 's/"aten::sub.Tensor"/"aten::add.Tensor"/' exported/level1/3_degenerate/graph.json
expect 'a difference is found' 1 "$cudal1" check exported --id 3 --device cpu
said out '^FAIL .* level1/3_degenerate  .*error budget'

# What forward does with the same inputs after other calls, what get_inputs gives twice, and who ends Python.
mkdir others
module others/counter.py 'self.count = 0' 'self.count += 1; return x * self.count' 'torch.rand(8)'
module others/constant.py 'pass' 'return x * 2' 'torch.tensor([2.0, 3.0])'
module others/leaves.py 'pass' 'return x' '__import__("os")._exit(0)'
mkdir others/native
printf '{"format": "cudal1.graph", "version": 1, "name": "n", "inputs": [{"name": "x", "dtype": "f32", "shape": [4], "draw": {"kind": "normal"}}], "nodes": [{"name": "n", "op": "aten::no_such", "args": ["x"]}], "outputs": ["n"]}' >others/native/graph.json
printf 'import torch\nclass Model(torch.nn.Module):\n    def forward(self, x, y): return x + y\ndef get_inputs():\n    a = torch.rand(8)\n    return [a, a]\n' >others/twice.py
expect 'only what commands can load counts' 0 "$cudal1" tasks others --export loadable
said out '^2 of 5 tasks exported'
said err '^cudal1: .*native.*aten::no_such'
said err '^cudal1: .*counter.py:9: forward changes self.count from one call to the next'
said err '^cudal1: .*leaves.py: Python ended before its work was done'
expect 'exported tasks agree' 0 "$cudal1" check others --name constant,twice --device cpu
said out '^2 of 2 tasks agree'

# Names beyond ASCII, of modules and of what is in them: all commands take them.
module others/Größe.py 'self.größe = nn.Linear(8, 8); self.maß = nn.ModuleDict({"a-b": nn.BatchNorm1d(8)})' \
  'return self.maß["a-b"](self.größe(x))' 'torch.rand(16, 8)'
expect 'names beyond ASCII' 0 "$cudal1" tasks others --name Größe --export loadable
expect 'names beyond ASCII agree' 0 "$cudal1" check others --name Größe --device cpu
said out '^1 of 1 tasks agree'
expect 'names beyond ASCII are judged' 0 "$cudal1" bench others --name Größe --device vgpu
said out '^Größe +ok '
sed 's/class Model/class ModelNew/' others/Größe.py >größer.py
expect 'names beyond ASCII in solutions' 0 "$cudal1" eval others/Größe.py größer.py --device cpu --verify-only --no-archive
said out '^größer.py +ok '

# A package of one task, however it is named.
expect 'a package of one task of a suite' 0 "$cudal1" export 'my suite' --name degenerate --device vgpu -o package1
[[ -s package1/__init__.py ]] || fail 'a package of a task of a suite'
expect 'a package of a task folder' 0 "$cudal1" export loadable/twice --device vgpu -o package2
[[ -s package2/__init__.py ]] || fail 'a package of a task folder'
expect 'a package of several' 1 "$cudal1" export 'my suite' --device vgpu -o package3
said err '^cudal1: my suite: 9 tasks are chosen, and a package is of one'
(cd others && expect 'a file of the folder that one is in' 0 "$cudal1" tasks twice.py; exit "$failed") || fail 'a bare file name'
for sizes in batch batch= x=4x x=x4 =4 x=4,batch 4=x 'x=4; y'; do
  expect "malformed sizes $sizes" 2 "$cudal1" export others/twice.py --shapes "$sizes" --device vgpu -o package4
  said err "^cudal1: --shapes: '.*' is no size such as x=32x128 or batch_size=32"
done
expect 'sizes of what the module has not' 1 "$cudal1" export others/twice.py --shapes größe=4 --device vgpu -o package4
said err "'größe' of 'größe=4' is neither an argument of forward nor a number of the file"
expect 'no sizes' 2 "$cudal1" export others/twice.py --shapes '' --device vgpu -o package4
module others/hidden.py 'self.h = torch.zeros(8)' 'self.h = self.h + x; return self.h' 'torch.rand(8)'
expect 'a hidden state agrees in its first call' 0 "$cudal1" check others/hidden.py --device cpu
expect 'a package is called more than once' 1 "$cudal1" export others/hidden.py --device vgpu -o package5
said err '^cudal1: .*hidden.py: forward replaces self.h, '

expect 'nothing could be done' 1 "$cudal1" tasks 'my suite' --id 4-9 --export none
expect 'nothing is chosen' 1 "$cudal1" tasks 'my suite' --id 77
said err 'none of its 9 tasks is chosen'
mkdir empty
expect 'an empty suite' 1 "$cudal1" check empty
said err '^cudal1: empty: there is no task in it$'
expect 'no suite' 1 "$cudal1" tasks nowhere
expect 'a wrong range' 2 "$cudal1" tasks 'my suite' --id 3-1
expect 'a wrong share' 2 "$cudal1" tasks 'my suite' --split 3/2
printf '{"name": "1_A", "code": "x"}\n{"name"\n{"name": "1_A", "code": "y"}\n' >lines.jsonl
expect 'broken lines' 0 "$cudal1" tasks lines.jsonl
lines err 2
said err '^cudal1: lines.jsonl:2: broken JSON at column [0-9]+$'
said err '^cudal1: lines.jsonl:3: the task 1_A is there already, at lines.jsonl:1$'
printf '{"name": "1_A\\u0000", "code": "x"}\n{"name": "2_B\\n", "code": "x"}\n{"name": "3_C", "code": "x", "suite": "\\u001b[2J"}\n{"name": "4_Größe", "code": "y"}\n' >names.jsonl
expect 'names that are none' 0 "$cudal1" tasks names.jsonl
lines err 3
said err '^cudal1: names.jsonl:1: "name" has a control character$'
said err '^cudal1: names.jsonl:3: "suite" has a control character$'
said out ' 4_Größe$'
printf 'import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x): return x * 2\n' >code.py
{ echo '```python'; cat code.py; echo '```'; } >fenced.py
{ echo 'Here it is:'; cat fenced.py; } >answer.py
expect 'solutions as models write them' 0 "$cudal1" eval others/constant.py fenced.py answer.py --device cpu --verify-only --no-archive
said out '^fenced.py +ok +correct'
said out '^answer.py +parse_error +line 1: invalid syntax \(lines with ``` are Markdown: '
printf '%s failed\n' "$failed"
[[ $failed == 0 ]]
