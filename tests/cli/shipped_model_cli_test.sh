#!/usr/bin/env bash
# A run is trained, published and used: `optimize` takes a shipped model by itself, beside the search, and does without
# one in one line. shipped_model_cli_test.sh CUDAL1 PYTHON SOURCE MODEL_TOOL
source "$3/tests/cli/models_setup.sh"
export CUDAL1_ADAPTERS_DIR=$folder/models PIP_NO_INDEX=1 PIP_CONFIG_FILE=/dev/null
search() {
  timeout 200 "$cudal1" optimize "$source/examples/bias_gelu" --device vgpu --seed 3 --no-explain --json "$@" </dev/null
}
"$model_tool" learning learning.gguf

cat >run.toml <<'TOML'
[run]
seed = 5
stages = ["supervised"]
slots = 8
context_tokens = 1500
answer_tokens = 64
[model]
path = "learning.gguf"
rank = 4
[tasks]
train = 1
validation = 1
test = 1
families = ["pointwise"]
difficulty = 0.0
reference_us_low = 1
reference_us_high = 30
least_speed_ratio = 0
[judge]
device = "vgpu"
[supervised]
pairs = 8
variants = 4
written_out_share = 0.0
batch = 4
epochs = 1
TOML
mkdir empty
"$cudal1" models publish empty -o models/none 2>none.err && fail 'there is no run to publish'
grep -q 'there is no training run' none.err || fail "and says so: $(cat none.err)"
timeout 300 "$cudal1" train run.toml -o run --json >run.json 2>run.err || fail "a run: $(tail -3 run.err)"
[[ -s run/adapter/prompt.json ]] || fail 'an adapter says how it was asked'
"$cudal1" models publish run -o models/tiny --json >published.json || fail 'a run is published'
[[ $(field published.json 'd["path"]') == models/tiny ]] || fail 'where it lies'
[[ $(field published.json 'd["base"]["sha256"]') == "$(sha256sum <learning.gguf | cut -d' ' -f1)" ]] || fail 'for which model'
grep -q 'Seed 5' models/tiny/README.md || fail 'a model card'
grep -q '| supervised | 2 | virtual' models/tiny/README.md || fail "with stages and hardware: $(cat models/tiny/README.md)"
grep -q 'not validated' models/tiny/README.md && fail 'what the run has validated is in the card'
grep -qx 'cudal1 train run.toml -o run' models/tiny/README.md || fail 'with the command'
"$cudal1" models publish run -o models/tiny 2>twice.err && fail 'a folder that is there'
grep -q 'is there already' twice.err || fail "is named: $(cat twice.err)"

# The model beside the search, by itself.
CUDAL1_MODEL=learning.gguf search --budget-evals 6 --archive first.sqlite -o first >first.json 2>first.err ||
  fail "with the shipped model: $(cat first.err)"
[[ $(field first.json '(d["policy"], d["adapter"])') == "('search:1,local:1', '$folder/models/tiny')" ]] ||
  fail "who writes is said: $(head -c 300 first.json)"
[[ $(field first.json 'd["results"][0]["models"][0]["samples"] >= 4') == True ]] || fail 'the model is asked'
[[ $(field first.json 'd["results"][0]["evaluations"] > 4') == True ]] || fail 'beside the search'
[[ $(field first.json 'd["results"][0]["best"]["status"]') == ok ]] || fail 'something right is found'
grep -q 'trained on another base\|other texts' first.err && fail "nothing to warn of: $(cat first.err)"

# The same seed writes the same programs.
CUDAL1_MODEL=learning.gguf search --budget-evals 6 --archive second.sqlite -o second >second.json 2>/dev/null
programs() { "$python" -c 'import sqlite3, sys; print(sorted(sqlite3.connect(sys.argv[1]).execute("select program_hash from evaluations")))' "$1"; }
[[ $(programs first.sqlite) == "$(programs second.sqlite)" ]] || fail 'the same seed, other programs'
[[ $(field first.json 'd["results"][0]["models"]') == "$(field second.json 'd["results"][0]["models"]')" ]] ||
  fail 'the same seed, other answers'

# Named policies, adapters and none.
CUDAL1_MODEL=learning.gguf search --policy local --budget-evals 1 -o local >local.json 2>local.err
[[ $(field local.json '(d["policy"], d["adapter"])') == "('local', '$folder/models/tiny')" ]] ||
  fail "a local model has the adapter that is shipped for it: $(cat local.err)"
CUDAL1_MODEL=learning.gguf search --policy local --adapter none --budget-evals 1 -o bare >bare.json 2>/dev/null
[[ $(field bare.json 'd["adapter"]') == None ]] || fail 'a local model without any adapter'
CUDAL1_MODEL=learning.gguf search --policy search --budget-evals 1 --archive s.sqlite -o s >s.json 2>s.err
[[ $(field s.json '(d["policy"], d["adapter"])') == "('search', None)" && ! -s s.err ]] || fail "the search alone: $(cat s.err)"

# A model that no adapter is shipped for: the search alone, and nothing to say about it.
"$model_tool" writing other.gguf
CUDAL1_MODEL=other.gguf search --budget-evals 1 --archive o.sqlite -o o >o.json 2>o.err
[[ $(field o.json 'd["policy"]') == search && ! -s o.err ]] || fail "another model: $(cat o.err)"

# The model under the adapter cannot be had: one line, and the search goes its way.
mkdir -p far/smollm
cp models/tiny/* far/smollm/
printf '{"name": "SmolLM2", "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"}' >far/smollm/base.json
CUDAL1_ADAPTERS_DIR=$folder/far search --budget-evals 1 --archive far.sqlite -o far-found >far.json 2>far.err ||
  fail "without the model: $(cat far.err)"
[[ $(field far.json '(d["policy"], d["adapter"])') == "('search', None)" ]] || fail 'the search works alone'
[[ $(grep -c 'the search works alone.*models fetch' far.err) == 1 ]] || fail "and says what to do: $(cat far.err)"

# A damaged adapter likewise.
head -c 2000 models/tiny/adapter_model.safetensors >cut && mv cut models/tiny/adapter_model.safetensors
CUDAL1_MODEL=learning.gguf search --budget-evals 1 --archive cut.sqlite -o cut-found >cut.json 2>cut.err ||
  fail "a damaged adapter: $(cat cut.err)"
[[ $(field cut.json 'd["policy"]') == search ]] || fail 'a damaged adapter is left out'
grep -q 'the search works alone.*adapter_model.safetensors' cut.err || fail "and named: $(cat cut.err)"
[[ $failed == 0 ]] && echo 'all passed'
exit $failed
