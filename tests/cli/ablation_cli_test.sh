#!/usr/bin/env bash
# `train --ablation` with a small random model and the virtual GPU: arms begin with the same weights and answers, and one
# that was killed goes on to the same tables. ablation_cli_test.sh CUDAL1 PYTHON SOURCE MODEL_TOOL
source "$3/tests/cli/training_setup.sh"
small_run >run.toml
arms=base,self_supervised,plain,bucket,evolution,bucket_shuffled,copy_best
small=(run.toml --ablation --set run.checkpoint_every=1 --set tasks.validation=0
  --set tasks.test=2 --set run.answer_tokens=60 --set supervised.pairs=32 --set supervised.batch=8
  --set supervised.epochs=1 --set self_supervised.rounds=1 --set self_supervised.samples=2 --set contrastive.steps=4
  --set contrastive.samples=4 --set contrastive.exemplar_count=2)
whole=("${small[@]}" --seeds 2 --arms "$arms")

# What is wrong is said in one line, and nothing is begun.
refused() {  # refused EXIT_CODE WORDS ARGUMENT…
  local code=$1 words=$2
  shift 2
  train "$@" >/dev/null 2>refused.err
  [[ $? == "$code" && $(wc -l <refused.err) == 1 ]] || fail "$*: in one line: $(cat refused.err)"
  grep -q -- "$words" refused.err || fail "$*: says $words: $(cat refused.err)"
}
refused 2 "no arm 'buckett'; did you mean 'bucket'" "${small[@]}" --arms buckett -o wrong
refused 2 'seeds' "${small[@]}" --seeds 0 -o wrong
refused 2 'ablation' run.toml --arms bucket -o wrong
refused 2 "leave the arm 'bucket_shuffled' out" "${whole[@]}" --set contrastive.exemplar_count=1 -o wrong
refused 2 'tasks.test is 0' "${small[@]}" --set tasks.test=0 -o wrong
[[ ! -e wrong ]] || fail 'nothing was begun'

train "${whole[@]}" -o alone --json >alone.json 2>alone.err || { fail "an ablation: $(tail -3 alone.err)"; exit 1; }
[[ $(field alone.json '(d["stopped"], d["seeds"], len(d["arms"]))') == '(False, [3, 4], 7)' ]] || fail 'all of it is through'
"$python" - <<'PYTHON' || fail 'arms are paired and differ in what they show'
import json, pathlib
found = json.loads(pathlib.Path("alone/ablation.json").read_text())
assert found["predicted"] and "H200" in found["device"] and found["tasks"] == 2, found
figures = {arm["arm"]: arm["figures"] for arm in found["arms"]}
for seed in (3, 4):
    def trial(arm):
        return [json.loads(line)["rounds"] for line in open(f"alone/trials/seed-{seed}/{arm}.jsonl")]
    first = {arm: [task[0] for task in trial(arm)] for arm in figures}
    for same in (("bucket", "bucket_shuffled", "copy_best"), ("self_supervised", "evolution")):
        for other in same[1:]:
            assert first[same[0]] == first[other], ("the same weights, nothing shown", seed, same[0], other)
    for arm in ("base", "self_supervised", "plain"):
        assert not any(sample["kind"] == "copy" for task in trial(arm) for part in task for sample in part), arm
    for task in trial("copy_best"):
        right = [sample for sample in task[0] if sample["kind"] == "success"]
        wanted = ("copy", max(sample["speedup"] for sample in right)) if right else ("failure", 0.0)
        assert all((sample["kind"], sample["speedup"]) == wanted for part in task[1:] for sample in part), task
    def weights(run, stage):
        return pathlib.Path(f"alone/seed-{seed}/{run}/adapters/before_{stage}/adapter_model.safetensors").read_bytes()
    assert weights("plain", "contrastive") == weights("bucket", "contrastive"), "runs of stage 3 begin with the same weights"
    assert weights("plain", "contrastive") != weights("shared", "supervised"), "which have learned something"
    shown = {run: {json.loads(line)["exemplars"] for line in open(f"alone/seed-{seed}/{run}/samples.jsonl")}
             for run in ("plain", "bucket")}
    assert shown == {"plain": {0}, "bucket": {2}}, shown
assert figures["copy_best"]["reward"]["mean"] <= 0.0
assert any(task for task in found["differences"] if (task["first"], task["second"]) == ("bucket", "plain"))
PYTHON

"$python" - "$source/docs/json.md" <<'PYTHON' || fail 'docs/json.md names every field'
import json, re, sys
section = open(sys.argv[1]).read().split("\n## train --ablation\n")[1].split("\n## ")[0]
def fields(value):
    if isinstance(value, list):
        return set().union(*map(fields, value))
    return set(value).union(*map(fields, value.values())) if isinstance(value, dict) else set()
missing = fields(json.load(open("alone.json"))) - set(re.findall(r"`([^`]+)`", section))
assert not missing, missing
PYTHON

# Killed while an arm of the first seed is trained, it has a page; gone on with, it comes to the same tables.
ended_by KILL 'killed/seed-3/bucket/checkpoints/contrastive-*/DONE' "${whole[@]}" -o killed
[[ ! -e killed/ablation.json ]] || fail 'it was killed before a seed was through'
"$cudal1" report killed killed/seed-3/bucket -o unfinished.md 2>report.err || fail "a page of it: $(cat report.err)"
grep -q 'No seed is through yet' unfinished.md || fail 'the page says that no seed is through'
grep -q '| unfinished |' unfinished.md || fail 'and that the run is unfinished'
train "${whole[@]}" -o killed >killed.out 2>killed.err || fail "goes on: $(tail -3 killed.err)"
grep -q 'goes on with an ablation' killed.err || fail 'it says that it goes on'
for file in ablation.md ablation.csv ablation.json seed-3/bucket/samples.jsonl trials/seed-4/bucket.jsonl; do
  cmp -s "alone/$file" "killed/$file" || fail "the same $file as of one that was left alone"
done
diff killed.out alone/ablation.md >/dev/null || fail 'it prints its table'

# Fewer arms and seeds of what is there need no training, and no other folder or configuration is taken.
train "${small[@]}" --arms bucket,plain --seeds 1 -o alone --json >fewer.json 2>fewer.err || fail "fewer arms: $(tail -3 fewer.err)"
[[ $(field fewer.json '([arm["arm"] for arm in d["arms"]], d["seeds"])') == "(['plain', 'bucket'], [3])" ]] || fail 'two arms of one seed'
refused 1 'has a training run' "${small[@]}" -o alone/seed-3/plain
refused 1 'has an ablation' run.toml -o alone
refused 1 'contrastive.steps' "${small[@]}" --set contrastive.steps=5 -o alone

"$cudal1" report killed killed/seed-3/bucket -o page.md 2>report.err || fail "a page: $(cat report.err)"
for words in '## Ablation: killed' 'predicted, none is measured' 'killed, or still going' '3.12 | 1.42' \
  '`bucket` - `copy_best`' '(page/1-differences.svg)' '## Run: bucket' '(page/2-contrastive.svg)' '| through |'; do
  grep -qF -- "$words" page.md || fail "the page has $words"
done
exit $failed
