#!/usr/bin/env bash
# bench/training.sh from end to end with a small random model and the virtual GPU: every part leaves rows, a piece that is
# cut off goes on. training_rows_test.sh CUDAL1 PYTHON SOURCE MODEL_TOOL BUILD
build=$5
source "$3/tests/cli/models_setup.sh"
[[ -x $build/bin/training_bench ]] || { echo 'skipped: training_bench is not built'; exit 77; }
[[ -e $source/.setup/environment.sh ]] || { echo 'skipped: nothing is set up here'; exit 77; }
export CUDAL1_BENCH_BUILD=$build CUDAL1_RECORDS=$folder/records CUDAL1_COMMIT=abc OMP_NUM_THREADS=1
"$model_tool" learning learning.gguf

cat >run.toml <<'TOML'
[run]
seed = 3
slots = 8
context_tokens = 1000
answer_tokens = 150
written_out_tokens = 40
[tasks]
train = 2
validation = 0
test = 1
families = ["pointwise"]
difficulty = 0.0
reference_us_low = 1
reference_us_high = 30
least_speed_ratio = 0
[judge]
device = "vgpu"
[supervised]
pairs = 16
variants = 4
written_out_share = 0.0
batch = 16
epochs = 1
[self_supervised]
rounds = 1
samples = 1
batch = 4
[contrastive]
steps = 1
prompts = 1
samples = 2
warm_up_steps = 0
[collapse]
least_entropy = 0
least_distinct_plans = 0
TOML

measure() {  # measure NAME ARGUMENT…: what it says goes to NAME.log; its exit code comes back
  local name=$1
  shift
  timeout 300 "$source/bench/training.sh" --model learning.gguf --config run.toml --ablation-config run.toml \
    --output rows.json "$@" >"$name.log" 2>&1
}

has_row() {  # has_row PART TEXT: with a finite value and its commit
  "$python" - "$2" <<'PYTHON' || fail "$1: no row of '$2': $(tail -5 "$1.log")"
import json, math, sys
rows = [row for row in json.load(open("rows.json"))["rows"] if sys.argv[1] in row["what"]]
assert rows, [row["what"] for row in json.load(open("rows.json"))["rows"]]
assert all(math.isfinite(row["value"]) and row["commit"] == "abc" and row["bar"] for row in rows), rows
PYTHON
}

# Before there is a run, what needs one says so.
measure early first_samples
[[ $? == 1 ]] || fail "first samples without a run: $(cat early.log)"
grep -q 'needs `train`' early.log || fail "says what is missing: $(cat early.log)"

measure rate --tasks 1 rate  # a prediction never holds
[[ $? == 1 ]] || fail "the rate: $(tail -5 rate.log)"
has_row rate 'training-mode evaluations'

# The first piece is too short; the second goes on. With a ledger that is named, the virtual GPU's turns are watched too.
measure cut --minutes 0.03 train
[[ $? == 3 ]] || fail "a piece that is cut off: $(tail -5 cut.log)"
CUDAL1_GPU_LEDGER=$folder/ledger measure train train
[[ $? -le 1 ]] || fail "the run: $(tail -5 train.log)"
grep -q 'goes on with' train.log "$folder/records/train.json" || fail "goes on: $(cat train.log)"
has_row train 'GPU without generation'

measure first_samples first_samples
[[ $? -le 1 ]] || fail "first samples: $(tail -5 first_samples.log)"
for stage in base 'stage 1' 'stage 2'; do
  has_row first_samples "success at the first sample: $stage"
  has_row first_samples "success at the first sample: $stage, written-out CUDA"
done

measure ablation --seeds 1 --arms self_supervised,plain,bucket ablation
[[ $? -le 1 ]] || fail "the ablation: $(tail -5 ablation.log)"
has_row ablation 'mean log reward after stage 3 over stage 2'
has_row ablation 'contrastive (bucket) over plain GRPO'
[[ -s records/ablation/seed-3/plain/metrics.csv ]] || fail 'numbers of an arm'
grep -q gpu_idle_share records/ablation/seed-3/plain/metrics.csv && fail 'a share of a GPU where there is none'
grep -q "adapter = \".*run/adapters/before_contrastive\"" records/ablation/config.toml || fail 'arms begin after stage 2 of the run'

measure gap --evaluations 9 gap
[[ $? -le 1 ]] || fail "the gap: $(tail -5 gap.log)"
"$python" - <<'PYTHON' || fail "searches with speed-ups, in their order: $(cat records/gap/search.jsonl)"
import json
line, = map(json.loads, open("records/gap/search.jsonl"))
assert len(line["speedups"]) == 9 and max(line["speedups"]) > 0.0, line
PYTHON
[[ -s records/gap/fresh/trained.directives.jsonl && -s records/gap/reading/trained.directives.jsonl ]] || fail 'samples of the model'

mkdir -p suite/level1
printf 'import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.softmax(x * 2.0, 1)\ndef get_inputs(): return [torch.rand(64, 64)]\n' \
  >suite/level1/1_Rows.py
measure suite --evaluations 2 suite suite
[[ $? -le 1 ]] || fail "the suite: $(tail -5 suite.log)"
has_row suite 'trained model + search'
[[ -s training_shares/all/optimize.json && -s optimized_trained.csv ]] || fail 'the share is kept'
exit $failed
