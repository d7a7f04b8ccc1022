#!/usr/bin/env bash
# `train` with a small random model and the virtual GPU: the reward rises, and a run that was killed goes on to the same
# numbers. train_cli_test.sh CUDAL1 PYTHON SOURCE MODEL_TOOL
source "$3/tests/cli/training_setup.sh"
numbers() {  # numbers METRICS.csv: stage, step and what a step learned, to five digits
  "$python" - "$1" <<'PYTHON'
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(row["stage"], row["step"], *(f"{float(row[name]):.5f}" for name in ("loss", "reward", "success_rate") if row.get(name)))
PYTHON
}

# What is wrong with a configuration is said in one line.
printf '[contrastive]\nstepz = 3\n' >wrong.toml
train wrong.toml -o wrong 2>wrong.err
[[ $? == 2 && $(wc -l <wrong.err) == 1 ]] || fail "a key that is not there, in one line: $(cat wrong.err)"
grep -q "stepz.*steps" wrong.err || fail "the nearest key is named: $(cat wrong.err)"
timeout 60 "$cudal1" train -o none --set model.path=nowhere.gguf 2>none.err && fail 'a model that is not there'
grep -q 'nowhere.gguf' none.err || fail "the missing model is named: $(cat none.err)"

small_run >run.toml
train run.toml -o whole --json >whole.json 2>whole.err || fail "a whole run: $(tail -3 whole.err)"
[[ $(field whole.json 'len(d["stages"])') == 3 ]] || fail 'three stages'
[[ $(field whole.json 'd["predicted"]') == True ]] || fail 'times are predictions'
[[ -s whole/adapter/adapter_model.safetensors ]] || fail 'an adapter came of it'
# Of 48 samples a step a mean reward is off by 0.07; over twelve steps by 0.02.
"$python" - <<'PYTHON' || fail 'the loss falls and the reward rises'
import csv
rows = list(csv.DictReader(open("whole/metrics.csv")))
losses = [float(row["loss"]) for row in rows if row["stage"] == "supervised"]
rewards = [float(row["reward"]) for row in rows if row["stage"] == "contrastive"]
first, last = sum(rewards[:12]) / 12, sum(rewards[-12:]) / 12
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, reward {first:.3f} -> {last:.3f}")
assert losses[-1] < 0.1 * losses[0] and last > first + 0.02
PYTHON

# Ended after its first checkpoint of the second stage, a run goes on to the same numbers as one that was left alone.
# Each has an archive of its own: predictions have to be the same, too.
short=(run.toml --set judge.archive= --set supervised.epochs=1 --set contrastive.steps=4 --set contrastive.samples=8 --set run.validate_every=3)
train "${short[@]}" -o alone >/dev/null 2>alone.err || fail "a short run: $(tail -3 alone.err)"
numbers alone/metrics.csv >alone.numbers
[[ $(grep '"validation"' alone/history.jsonl | grep -c '"contrastive"') == 2 ]] || fail "stage 3 is validated after its third step and at its end: $(cat alone/history.jsonl)"
[[ $(wc -l <alone.numbers) -gt 30 ]] || fail "numbers of all steps: $(wc -l <alone.numbers)"
for signal in KILL INT; do
  run=ended-by-$signal
  ended_by "$signal" "$run/checkpoints/self_supervised-*/DONE" "${short[@]}" -o "$run"
  train "${short[@]}" -o "$run" >/dev/null 2>"$run.err" || fail "goes on after $signal: $(tail -3 "$run.err")"
  grep -q 'goes on with' "$run.err" || fail 'it says that it goes on'
  numbers "$run/metrics.csv" >"$run.numbers"
  diff alone.numbers "$run.numbers" >difference || fail "the same numbers after $signal: $(head -5 difference)"
  cmp -s alone/samples.jsonl "$run/samples.jsonl" || fail "the same samples after $signal"
done

# Runs that were ended and gone on with have a page as well, with every start.
"$cudal1" report whole ended-by-KILL/ -o pages/all.md 2>report.err || fail "a page: $(cat report.err)"
"$python" - "$PWD/pages/all.md" <<'PYTHON' || fail 'the page has what the runs have written'
import pathlib, re, sys, xml.etree.ElementTree as xml
page = pathlib.Path(sys.argv[1])
text = page.read_text()
pictures = re.findall(r"\]\((all/[^)]+\.svg)\)", text)
assert len(pictures) == 6, pictures
for picture in pictures:
    root = xml.parse(page.parent / picture).getroot()
    assert len(root.findall(".//{*}circle")) > 3, picture
runs = text.split("\n## Run: ")[1:]
assert [run.split("\n")[0] for run in runs] == ["whole", "ended-by-KILL"]
for part in ("cudal1 train run.toml -o whole --set model.path=learning.gguf", "virtual NVIDIA H200", "every speed-up is predicted",
             "| `contrastive` | 44 | through |", "; through ", "#### `pointwise_", "Changed: ", "caught: nothing",
             "right at the first sample"):
    assert part in runs[0], part
assert "killed, or still going" in runs[1] and "; through " in runs[1] and "| `contrastive` | 4 | through |" in runs[1]
PYTHON
"$cudal1" report nowhere -o nowhere.md 2>nowhere.err && fail 'a page of nothing'
grep -q 'nowhere: is no training run' nowhere.err || fail "names the folder: $(cat nowhere.err)"

train "${short[@]}" -o alone --set contrastive.prompts=1 2>other.err && fail 'another configuration'
grep -q 'contrastive.prompts' other.err || fail "names the key that differs: $(cat other.err)"
"$cudal1" data export alone --format trl -o pairs.jsonl >/dev/null 2>export.err || fail "pairs for other trainers: $(cat export.err)"
[[ -s pairs.jsonl ]] || fail 'some pairs'
"$cudal1" data export alone --samples --format trl -o samples.jsonl >/dev/null 2>export.err || fail "samples: $(cat export.err)"
"$python" - <<'PYTHON' || fail 'samples carry the rewards that the run has learned from'
import collections, csv, json
rewards = collections.defaultdict(list)
for line in open("samples.jsonl"):
    sample = json.loads(line)
    rewards[int(sample["group"].split("-")[0])].append(sample["reward"])
steps = [float(row["reward"]) for row in csv.DictReader(open("alone/metrics.csv")) if row["stage"] == "contrastive"]
assert len(steps) == len(rewards) == 4
assert all(abs(sum(rewards[i]) / len(rewards[i]) - reward) < 1e-5 for i, reward in enumerate(steps)), (rewards, steps)
PYTHON
exit $failed
