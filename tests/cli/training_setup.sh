# Sourced by tests of `train`, with their arguments CUDAL1 PYTHON SOURCE MODEL_TOOL: a small random model, and a
# configuration with which it learns.
source "$3/tests/cli/models_setup.sh"
export OMP_NUM_THREADS=1  # beside other tests, threads would wait for each other
"$model_tool" learning learning.gguf
train() { timeout 900 "$cudal1" train "$@" --set model.path=learning.gguf; }

# ended_by SIGNAL PATTERN ARGUMENT…: trains until there is a file of this name, then ends it.
ended_by() {
  local signal=$1 pattern=$2 pid
  shift 2
  "$cudal1" train "$@" --set model.path=learning.gguf >/dev/null 2>&1 &
  pid=$!
  for _ in $(seq 3000); do
    compgen -G "$pattern" >/dev/null && break
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill "-$signal" "$pid" 2>/dev/null || fail "there was nothing to end with $signal"
  wait "$pid"
}

small_run() {
  cat <<'TOML'
[run]
seed = 3
slots = 16
context_tokens = 1000
answer_tokens = 150
checkpoint_every = 4
[model]
rank = 32
[tasks]
train = 2
validation = 1
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
pairs = 512
variants = 6
written_out_share = 0.0
batch = 16
epochs = 8
learning_rate = 5e-3
[self_supervised]
rounds = 2
samples = 4
batch = 8
[contrastive]
steps = 44
prompts = 2
samples = 24
warm_up_steps = 3
learning_rate = 5e-4
normalisation = "per_sample"
kl_weight = 0
exemplar_count = 1
share_without = 0.0
[collapse]
least_entropy = 0
least_distinct_plans = 0
largest_trick_share = 1.1
TOML
}
