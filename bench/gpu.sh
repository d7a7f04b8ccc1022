#!/usr/bin/env bash
# Everything that only a GPU can tell, most wanted first, for whoever has one for half an hour:
#   bench/gpu.sh [--minutes M] [--suite SUITE.jsonl] [--model FILE] [--shares N] [--bring FOLDER] [STEP…]
# Steps, all by default, in this order; one that is through is not done again (its mark lies in CUDAL1_RECORDS, build/gpu):
#   checks      tests of what all measurements stand on: kernels of the oracle, memory checks, clocks
#   suite       bench/writer.sh suite, in N shares (3) of the suite's original sizes; needs --suite
#   generator   bench/generator.sh gpu; needs --model
#   tests       all other tests that need a GPU
#   kernels     bench/writer.sh kernels
#   rate train first_samples ablation gap   parts of bench/training.sh; needs --model but for `rate`
#   trained_suite                           its part `suite`
# --minutes is for all of it, building included: what is cut off then goes on with the same command, as long as
# CUDAL1_RECORDS is there. Rows are in bench/results as soon as they are measured; what each step said, in its log beside
# the marks, with a ledger of who had the GPU (bench/python/gpu_turns.py reads it). --bring leaves results, logs and
# archives in a folder, as two small files, for machines that are given back. Ends with 3 where something is left, else
# with 1 where a step failed or a row misses its bar.
set -uo pipefail
started=$SECONDS
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
source bench/pieces.sh
records=${CUDAL1_RECORDS:-build/gpu}
all_steps=(checks suite generator tests kernels rate train first_samples ablation gap trained_suite)
base_tests='oracle_convolutions|device_walks|gate_on_gpu|module_globals_on_gpu|executor_gpu'
minutes='' suite='' model='' shares=3 bring='' steps=() failed=0
not_built=4  # of a step: it has not begun, and is to be done once that is mended

read_arguments() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      --*) [[ $# -gt 1 ]] || usage "$1 needs a value"; read_option "$1" "$2"; shift 2 ;;
      *) [[ " ${all_steps[*]} " == *" $1 "* ]] || usage "there is no step $1"; steps+=("$1"); shift ;;
    esac
  done
  [[ ${#steps[@]} -gt 0 ]] || steps=("${all_steps[@]}")
}

read_option() {
  case $1 in
    --minutes) are_minutes "$2" || usage '--minutes needs a number'; minutes=$2 ;;
    --suite) suite=$(there "$2") || exit ;;
    --model) model=$(there "$2") || exit ;;
    --bring) bring=$(cd "$given_from" && realpath -m -- "$2") ;;
    --shares) [[ $2 =~ ^[1-9][0-9]*$ ]] || usage '--shares needs a number'; shares=$2 ;;
    *) usage "there is no option $1" ;;
  esac
}

minutes_left() { awk -v seconds="$(seconds_left)" 'BEGIN { printf "%.2f", seconds / 60 }'; }
time_option() { [[ -z $minutes ]] || printf -- '--minutes %s' "$(minutes_left)"; }
is_over() { [[ -n $minutes && $(seconds_left) -le 1 ]]; }

gpu_tests() {  # gpu_tests CTEST-OPTION…: builds these tests with all that they start, and runs them
  local programs
  cmake -B build/release -DCUDAL1_BUILD_TESTS=ON . >/dev/null || return "$not_built"
  programs=$(ctest --test-dir build/release -N -L '^gpu$' "$@" 2>/dev/null | sed -n 's/^ *Test *#[0-9]*: \(.*_test\)$/\1/p')
  cmake --build build/release --target $programs >/dev/null || return "$not_built"  # they have no spaces
  within_time 10
  "${within[@]}" ctest --test-dir build/release -L '^gpu$' "$@" --output-on-failure --no-tests=error
}

# shellcheck disable=SC2046
training() { bench/training.sh ${model:+--model "$model"} $(time_option) "$@"; }

# shellcheck disable=SC2046
do_step() {
  case $1 in
    checks) gpu_tests -R "$base_tests" ;;
    suite) bench/writer.sh suite "$suite" --suite paper --shares "$shares" $(time_option) ;;
    generator) bench/generator.sh --model "$model" gpu ;;
    tests) gpu_tests -E "$base_tests" ;;
    kernels) bench/writer.sh kernels ;;
    trained_suite) training suite "$suite" --suite paper ;;
    *) training "$1" ;;
  esac
}

bring_home() {
  [[ -z $bring ]] ||
    python3 bench/python/bring_home.py "$bring" --results bench/results --records "$records" build/writer build/training
}

why_not() {  # what a step lacks here
  case $1 in
    suite | trained_suite) [[ -n $suite ]] || echo '--suite' ;;&
    generator | train | first_samples | ablation | gap | trained_suite) [[ -n $model ]] || echo '--model' ;;
  esac
}

run_step() {  # run_step NAME: 3 where its time was over
  local mark=$records/$1.through lacking code=0
  [[ ! -e $mark ]] || return 0
  lacking=$(why_not "$1")
  [[ -z $lacking ]] || { echo "left out: $1, which needs" $lacking >&2; failed=1; return 0; }
  echo "$1, $((SECONDS - started)) s after the start" >&2
  do_step "$1" >>"$records/$1.log" 2>&1 || code=$?
  tail -n 20 "$records/$1.log"
  [[ $code != 3 && $code != 124 && $code != 137 ]] || return 3
  [[ $code == 0 ]] || { echo "$1 ended with $code: $records/$1.log" >&2; failed=1; }
  [[ $code == "$not_built" ]] || touch "$mark"
}

read_arguments "$@"
[[ -n $(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null) ]] || { echo 'there is no NVIDIA GPU here' >&2; exit 1; }
mkdir -p "$records"
records=$(realpath "$records")
unset CUDAL1_RECORDS  # the steps keep theirs in build
export CUDAL1_GPU_LEDGER=$records/ledger
trap bring_home EXIT
./cudal1 --version >/dev/null || { echo 'nothing is measured: the program could not be built' >&2; exit 1; }
for step in "${steps[@]}"; do
  ! is_over && run_step "$step" || { echo 'the same command goes on' >&2; exit 3; }
done
exit "$failed"
