#!/usr/bin/env bash
# Measures the writer and the search on this machine's GPU; both write rows of bench/results/writer.json:
#   bench/writer.sh kernels                                   single kernels beside the library
#   bench/writer.sh suite SUITE.jsonl [--suite paper] [--split 1/6 …] [--shares N] [--minutes M]
# The second optimises every task (20 evaluations each) and measures the packages beside PyTorch's own ways. A share that
# is done is kept in bench/results/writer_shares, so that others can be measured another day, on another machine: all that
# are there count, whichever commit they are of, and rows name the commits. With --shares, those of N shares that are not
# kept yet follow each other. After --minutes, building included, it ends in good order, with 3 where something is left.
# CUDAL1_RECORDS names a folder for searches under way (build/writer); the same command goes on with one that was cut off.
set -euo pipefail
started=$SECONDS
usage='usage: bench/writer.sh kernels | suite SUITE [--suite NAME] [--split K/N] [--shares N] [--minutes M]'
wrong_usage() { echo "$usage" >&2; exit 2; }
what=${1:-} minutes='' number_of_shares='' selection=()
shift || wrong_usage
if [[ $what == suite ]]; then
  suite=$(realpath -e -- "${1:-}") || wrong_usage
  shift
fi
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
source bench/pieces.sh
source bench/suite_shares.sh
records=${CUDAL1_RECORDS:-build/writer}
kept=bench/results/writer_shares

read_options() {
  while [[ $# -gt 0 ]]; do
    [[ $# -gt 1 ]] || wrong_usage
    case $1 in
      --minutes) are_minutes "$2" || wrong_usage; minutes=$2 ;;
      --shares) [[ $2 =~ ^[1-9][0-9]*$ ]] || wrong_usage; number_of_shares=$2 ;;
      *) selection+=("$1" "$2") ;;
    esac
    shift 2
  done
}

measure_kernels() {
  "$CUDAL1_PYTHON" bench/writer/kernel_rows.py --cudal1 ./cudal1 --commit "$commit" --gpu "${gpu:-none}"
}

measure_suite() {
  local chosen=("${selection[@]}") share
  [[ -n $number_of_shares ]] || { measure_share; return; }
  for ((share = 1; share <= number_of_shares; ++share)); do
    selection=("${chosen[@]}" --split "$share/$number_of_shares")
    is_kept || measure_share
  done
}

measure_share() {
  local code=0
  within_time 30  # who measures packages does not listen; what it has measured is on record
  optimise_share "${within[@]}" ./cudal1 -- --device cuda --budget-evals 20 || code=$?
  case $code in
    0 | 124 | 137) keep_share ./cudal1 ;;  # which looks whether it is through
    *) echo "optimize ended with $code" >&2; exit 1 ;;
  esac
  merge_shares ./cudal1 bench/writer.sh bench/results/optimized
  "$CUDAL1_PYTHON" bench/writer/suite_rows.py "$records/merged" --optimized "${shares[@]}" --tasks "$tasks" \
    --gpu "${gpu:-none}" --commit "$commit"
}

read_options "$@"
./cudal1 --version >/dev/null
source .setup/environment.sh
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 || true)
case $what in
  kernels) measure_kernels ;;
  suite) measure_suite ;;
  *) wrong_usage ;;
esac
