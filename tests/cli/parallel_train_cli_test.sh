#!/usr/bin/env bash
# `train --processes`: several processes learn what one does, also where a run goes on with another number of them, and
# one that dies ends the run with its last checkpoint. parallel_train_cli_test.sh CUDAL1 PYTHON SOURCE MODEL_TOOL
source "$3/tests/cli/models_setup.sh"
"$model_tool" learning learning.gguf
cat >run.toml <<'TOML'
[run]
seed = 3
slots = 16
context_tokens = 1000
answer_tokens = 150
checkpoint_every = 2
stages = ["supervised", "contrastive"]
[model]
rank = 8
device = "cpu"
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
archive = "shared.sqlite"
[supervised]
pairs = 60
variants = 6
written_out_share = 0.0
batch = 5
epochs = 3
learning_rate = 5e-3
[contrastive]
steps = 3
prompts = 2
samples = 8
warm_up_steps = 1
learning_rate = 5e-4
exemplar_count = 1
[collapse]
least_entropy = 0
least_distinct_plans = 0
TOML
train() { timeout 300 "$cudal1" train run.toml --set model.path=learning.gguf "$@"; }
same() {  # same ONE.csv OTHER.csv: every step is there, and stage 1 learned the same to 1e-5
  "$python" - "$1" "$2" <<'PYTHON'
import csv, math, sys
one, other = (list(csv.DictReader(open(file))) for file in sys.argv[1:])
assert [(row["stage"], row["step"]) for row in one] == [(row["stage"], row["step"]) for row in other]
supervised = [(a, b) for a, b in zip(one, other) if a["stage"] == "supervised"]
assert len(supervised) > 30 and len(one) - len(supervised) == 3, (len(supervised), len(one))
for a, b in supervised:
    for name in ("loss", "gradient_length", "tokens"):
        assert abs(float(a[name]) - float(b[name])) <= 1e-5 * max(1.0, float(a[name])), (a["step"], name, a[name], b[name])
# What is drawn in stage 3 may fall the other way where weights differ by a rounding: its numbers are not compared.
assert all(math.isfinite(float(row["loss"] or 0)) and row["entropy"] for row in other[len(supervised):])
PYTHON
}
# Of this test only, which has a folder of its own.
ours() { pgrep -f "$1" | while read -r pid; do [[ $(readlink "/proc/$pid/cwd") == "$folder" ]] && echo "$pid"; done; }
others() { ours '^[^ ]*/cudal1-learner'; }
all_gone() { for _ in $(seq 100); do [[ -z $(others) ]] && return 0; sleep 0.1; done; return 1; }
begun() { for _ in $(seq 1200); do compgen -G "$1/checkpoints/supervised-*/DONE" >/dev/null && return 0; sleep 0.05; done; return 1; }

for wrong in 0 65 -1 two 1.5; do
  train -o wrong "--processes=$wrong" >/dev/null 2>wrong.err
  [[ $? == 2 && $(wc -l <wrong.err) == 1 ]] || fail "--processes $wrong in one line: $(cat wrong.err)"
  grep -q 'processes' wrong.err || fail "the setting is named: $(cat wrong.err)"
done
[[ ! -e wrong ]] || fail 'nothing was begun'

train -o one >/dev/null 2>one.err || { fail "one process: $(tail -3 one.err)"; exit 1; }
train -o two --processes 2 >/dev/null 2>two.err || fail "two processes: $(tail -3 two.err)"
same one/metrics.csv two/metrics.csv || fail 'two processes learn what one does'
all_gone || fail 'nobody is left after a run'

# A process that dies ends the run in one line; the run goes on with another number of them, to the same numbers.
train -o died --processes 3 >/dev/null 2>died.err & run=$!
begun died || { fail 'a checkpoint before somebody dies'; exit 1; }
victim=$(others | tail -1)
[[ -n $victim ]] || fail 'there are further processes'
kill -KILL "$victim"
wait $run
[[ $? == 1 ]] || fail "the run ends with an error: $(tail -3 died.err)"
[[ $(tail -1 died.err) =~ process\ [23]\ of\ 3\ ended\ with\ signal\ 9 ]] || fail "it names who died: $(tail -2 died.err)"
all_gone || fail 'nobody is left after somebody died'
train -o died --processes 2 >/dev/null 2>goes_on.err || fail "goes on with two: $(tail -3 goes_on.err)"
grep -q 'goes on with' goes_on.err || fail 'it says that it goes on'
same one/metrics.csv died/metrics.csv || fail 'what three began two end as one would'

# Whoever leads is killed: the others go with it.
train -o led --processes 2 >/dev/null 2>&1 & run=$!
begun led || { fail 'a checkpoint before the leader dies'; exit 1; }
[[ -n $(others) ]] || fail 'there is another process'
kill -KILL "$(ours '^[^ ]*cudal1 train .* -o led')"
wait $run
all_gone || fail "the leader's death leaves somebody behind: $(others)"
train -o led >/dev/null 2>led.err || fail "goes on alone: $(tail -3 led.err)"
same one/metrics.csv led/metrics.csv || fail 'what two began one ends'
exit $failed
