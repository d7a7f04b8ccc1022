#!/usr/bin/env bash
# Measures the language model and what is around it; writes rows of bench/results/generator.json:
#   bench/generator.sh [PART…]      on a machine that has nothing else to do; no GPU is needed. Parts, all by default:
#       logits narrow greedy kl     beside Hugging Face's transformers on the real model
#       tokenizer                   ids and texts beside transformers'
#       speed first_token           on the CPU; left out where others use it
#       untrained                   how often the model as it comes writes right programs for examples/ (virtual GPU)
#   bench/generator.sh gpu          what needs a GPU, as far as its programs are there
# The first use fetches the model and installs transformers, gguf, accelerate and peft into build/generator/python, beside
# the PyTorch that the project has. CUDAL1_BENCH_BUILD names a folder with finished programs instead of build/release.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
work=build/generator
build=${CUDAL1_BENCH_BUILD:-build/release}
export HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1  # all that is read lies here
parity_parts=(logits narrow greedy kl speed first_token)
failed=0

make_programs() {  # make_programs TESTS|BENCHMARKS TARGET…
  [[ $build == build/release ]] || return 0
  local kind=$1 target
  shift
  for target in "$@"; do build_release "$kind" "$target"; done
}

# Beside the project's PyTorch, which a later release must not replace: that one is what our programs are linked with.
make_python() {
  python=$work/python/bin/python
  "$python" -c 'import accelerate, gguf, peft, torch, transformers' 2>/dev/null && return
  local packages constraint=$work/torch.txt
  rm -rf "$work/python"
  "$CUDAL1_PYTHON" -m venv "$work/python"
  packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$CUDAL1_PYTHON" -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parent.parent)' >"$packages/project.pth"
  "$CUDAL1_PYTHON" -c 'import torch; print("torch==" + torch.__version__.split("+")[0])' >"$constraint"
  "$python" -m pip install --quiet --quiet --constraint "$constraint" transformers gguf accelerate peft
  "$python" -c 'import pathlib, sys, torch; sys.exit(pathlib.Path(torch.__file__).is_relative_to(sys.prefix))' ||
    { echo "pip has installed another PyTorch into $work/python, which is not the one to compare with" >&2; exit 1; }
}

fetch_model() {
  model=$("$build/bin/cudal1" models fetch --json | "$CUDAL1_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["path"])')
}

keep_rows() {  # keep_rows FILE: rows that were just measured
  [[ -s $1 ]] || return 0
  "$CUDAL1_PYTHON" bench/generator/keep_rows.py "$1" --commit "$commit" --gpu "$gpu"
}

measure_parity() {  # measure_parity PART,PART…
  make_programs TESTS transformer_driver
  make_programs BENCHMARKS first_token
  rm -f "$work/parity.json"
  "$python" bench/generator/transformer_parity.py "$model" --driver "$build/bin/transformer_driver" \
    --first-token "$build/bin/first_token" --work "$work" --only "$1" --rows "$work/parity.json" || failed=1
  keep_rows "$work/parity.json"
}

measure_tokenizer() {
  make_programs BENCHMARKS tokenize_file
  rm -f "$work/tokenizer.json"
  CUDAL1_MODEL=$model "$python" bench/generator/tokenizer_parity.py --driver "$build/bin/tokenize_file" \
    --rows "$work/tokenizer.json" || failed=1
  keep_rows "$work/tokenizer.json"
}

# Nothing is shown but the task, and no answer is sent back: what the model makes of it by itself.
measure_untrained() {
  local options name
  for options in '' '--grammar'; do
    name=$work/untrained$options
    # shellcheck disable=SC2086
    "$build/bin/cudal1" bench examples --policy local --model "$model" $options --samples 4 --seed 1 --device vgpu \
      -o "$name" --json >"$name.samples.json" || failed=1
    "$CUDAL1_PYTHON" bench/generator/untrained_rows.py "$name.samples.json" --rows "$name.json" $options || failed=1
    keep_rows "$name.json"
  done
}

# Each writes a file as those of bench/results are.
measure_gpu() {
  local name
  [[ $gpu != none ]] || { echo 'there is no GPU here: nothing is measured' >&2; exit 1; }
  for name in generation_speed training_speed sampling_parity; do
    if [[ -e bench/generator/$name.cpp ]]; then
      make_programs BENCHMARKS "$name"
      rm -f "$work/$name.json"
      "$build/bin/$name" --model "$model" --output "$work/$name.json" --commit "$commit" || failed=1
      keep_rows "$work/$name.json"
    else
      echo "left out: there is no bench/generator/$name.cpp"
    fi
  done
}

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 || true)
gpu=${gpu:-none}
mkdir -p "$work"
[[ $build != build/release ]] || ./cudal1 --version >/dev/null
source .setup/environment.sh
fetch_model
[[ $# -gt 0 ]] || set -- speed first_token logits narrow greedy kl tokenizer untrained
if [[ $* == gpu ]]; then
  measure_gpu
  exit "$failed"
fi
gpu=none  # nothing of what follows uses one
make_python
chosen=
for part in "$@"; do
  case " ${parity_parts[*]} tokenizer untrained " in
    *" $part "*) ;;
    *) echo "there is no part $part: see the beginning of bench/generator.sh" >&2; exit 2 ;;
  esac
  [[ " ${parity_parts[*]} " != *" $part "* ]] || chosen+=${chosen:+,}$part
done
[[ -z $chosen ]] || measure_parity "$chosen"
[[ " $* " != *' tokenizer '* ]] || measure_tokenizer
[[ " $* " != *' untrained '* ]] || measure_untrained
exit "$failed"
