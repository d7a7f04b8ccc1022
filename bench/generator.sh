#!/usr/bin/env bash
# Measures the language model and what is around it; writes rows of bench/results/generator.json:
#   bench/generator.sh [--model FILE] [--output FILE] [PART…]      on a machine that has nothing else to do. Parts, all by default:
#       gpu                         what needs a GPU; left out where there is none: texts written, training, sampler beside trainer
#       logits narrow greedy kl     beside Hugging Face's transformers on the real model
#       tokenizer                   ids and texts beside transformers'
#       speed first_token           on the CPU; left out where others use it
#       untrained                   how often the model as it comes writes right programs for examples/ (virtual GPU)
# Rows that are not measured stay as they are, so that a machine with a GPU and one with transformers can each do its part.
# --model names the file that `cudal1 models fetch` would get, for machines without a package index; there `gpu` needs
# nothing else, and builds only what it runs. The other parts install transformers, gguf, accelerate and peft at first
# use into build/generator/python, beside the PyTorch that the project has. CUDAL1_BENCH_BUILD names a folder with
# finished programs instead of build/release.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
work=build/generator
build=${CUDAL1_BENCH_BUILD:-build/release}
export HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1  # all that is read lies here
parity_parts=(speed first_token logits narrow greedy kl)
all_parts=(gpu "${parity_parts[@]}" tokenizer untrained)
gpu_programs=(generation_speed training_speed sampling_parity)
longest_s=300  # of one program on the GPU, which takes a minute at most when all is well
model='' output=bench/results/generator.json failed=0

read_arguments() {
  parts=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      --model | --output) [[ $# -gt 1 ]] || usage "$1 needs a file"; read_file_option "$1" "$2"; shift 2 ;;
      *) [[ " ${all_parts[*]} " == *" $1 "* ]] || usage "there is no part $1"; parts+=("$1"); shift ;;
    esac
  done
  are_named=${#parts[@]}
  [[ $are_named -gt 0 ]] || parts=("${all_parts[@]}")
}

read_file_option() {  # as it is called where the command was given
  case $1 in
    --model) model=$(there "$2") ;;
    --output) output=$(cd "$given_from" && realpath -m -- "$2") ;;
  esac
}

wanted() { [[ " ${parts[*]} " == *" $1 "* ]]; }
left_out() { echo "left out: $1" >&2; failed=1; }

make_programs() {  # make_programs TESTS|BENCHMARKS TARGET…
  [[ $build == build/release ]] || return 0
  build_alone "$@"
}

# Beside the project's PyTorch, which a later release must not replace: that one is what our programs are linked with.
make_python() {
  python=$work/python/bin/python
  "$python" -c 'import accelerate, gguf, peft, torch, transformers' 2>/dev/null && return
  local packages constraint=$work/torch.txt
  rm -rf "$work/python"
  "$CUDAL1_PYTHON" -m venv "$work/python" || return
  packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$CUDAL1_PYTHON" -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parent.parent)' >"$packages/project.pth"
  "$CUDAL1_PYTHON" -c 'import torch; print("torch==" + torch.__version__.split("+")[0])' >"$constraint"
  "$python" -m pip install --quiet --quiet --retries 1 --constraint "$constraint" transformers gguf accelerate peft || return
  "$python" -c 'import pathlib, sys, torch; sys.exit(pathlib.Path(torch.__file__).is_relative_to(sys.prefix))' ||
    { echo "pip has installed another PyTorch into $work/python, which is not the one to compare with" >&2; return 1; }
}

fetch_model() {
  [[ -z $model ]] || return 0
  [[ $build != build/release ]] || ./cudal1 --version >/dev/null
  "$build/bin/cudal1" models fetch --json >"$work/model.json" ||
    { echo 'without a package index: bench/generator.sh --model FILE' >&2; exit 1; }
  model=$("$CUDAL1_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["path"])' <"$work/model.json")
}

keep_rows() {  # keep_rows FILE GPU: rows that were just measured
  [[ -s $1 ]] || return 0
  "$CUDAL1_PYTHON" bench/generator/keep_rows.py "$1" --commit "$commit" --gpu "$2" --output "$output" || failed=1
}

measure_parity() {  # measure_parity PART,PART…
  make_programs TESTS transformer_driver
  make_programs BENCHMARKS first_token
  rm -f "$work/parity.json"
  "$python" bench/generator/transformer_parity.py "$model" --driver "$build/bin/transformer_driver" \
    --first-token "$build/bin/first_token" --work "$work" --only "$1" --rows "$work/parity.json" || failed=1
  keep_rows "$work/parity.json" none
}

measure_tokenizer() {
  make_programs BENCHMARKS tokenize_file
  rm -f "$work/tokenizer.json"
  CUDAL1_MODEL=$model "$python" bench/generator/tokenizer_parity.py --driver "$build/bin/tokenize_file" \
    --rows "$work/tokenizer.json" || failed=1
  keep_rows "$work/tokenizer.json" none
}

# Nothing is shown but the task, and no answer is sent back: what the model makes of it by itself.
measure_untrained() {
  local options name
  [[ $build != build/release ]] || ./cudal1 --version >/dev/null
  for options in '' '--grammar'; do
    name=$work/untrained$options
    # shellcheck disable=SC2086
    "$build/bin/cudal1" bench examples --policy local --model "$model" --model-device cpu $options --samples 4 --seed 1 \
      --device vgpu -o "$name" --json >"$name.samples.json" || failed=1
    "$CUDAL1_PYTHON" bench/generator/untrained_rows.py "$name.samples.json" --rows "$name.json" $options || failed=1
    keep_rows "$name.json" none
  done
}

# Each writes a file as those of bench/results are, whose rows are kept at once: what one of them does is not lost with
# the next.
measure_gpu() {
  local name
  make_programs BENCHMARKS "${gpu_programs[@]}"
  for name in "${gpu_programs[@]}"; do
    rm -f "$work/$name.json"
    timeout --kill-after 10 "$longest_s" "$build/bin/$name" --model "$model" --output "$work/$name.json" --commit "$commit" ||
      { echo "$name ended with $?" >&2; failed=1; }
    keep_rows "$work/$name.json" "$gpu"
  done
}

measure_beside_transformers() {
  local part chosen=
  for part in "${parity_parts[@]}"; do
    ! wanted "$part" || chosen+=${chosen:+,}$part
  done
  [[ -n $chosen ]] || wanted tokenizer || return 0
  make_python || { left_out "${chosen:+$chosen }${chosen:+and }tokenizer, since transformers cannot be installed here"; return 0; }
  [[ -z $chosen ]] || measure_parity "$chosen"
  ! wanted tokenizer || measure_tokenizer
}

read_arguments "$@"
mkdir -p "$work"
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 || true)
[[ $build != build/release ]] || set_up
source .setup/environment.sh
fetch_model
if wanted gpu; then
  if [[ -n $gpu ]]; then measure_gpu
  elif [[ $are_named -gt 0 ]]; then left_out 'gpu, since there is none here'
  fi
fi
measure_beside_transformers
! wanted untrained || measure_untrained
exit "$failed"
