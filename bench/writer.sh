#!/usr/bin/env bash
# Measures the writer and the search on this machine's GPU; both write rows of bench/results/writer.json:
#   bench/writer.sh kernels                                   single kernels beside the library
#   bench/writer.sh suite SUITE.jsonl [--suite paper] [--split 1/6 …]
# The second optimises every task (20 evaluations each) and measures the packages beside PyTorch's own ways. A share that
# is done is kept in bench/results/writer_shares, so that others can be measured another day, on another machine: all that
# are there count, whichever commit they are of, and rows name the commits. CUDAL1_RECORDS names a folder for searches
# under way (build/writer); the same command goes on with one that was cut off.
set -euo pipefail
usage='usage: bench/writer.sh kernels | suite SUITE [--suite NAME] [--split K/N]'
what=${1:?$usage}
shift
[[ $what != suite ]] || { suite=$(readlink -f "${1:?$usage}"); shift; }
selection=("$@")
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
source bench/suite_shares.sh
./cudal1 --version >/dev/null
source .setup/environment.sh
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 || true)
records=${CUDAL1_RECORDS:-build/writer}
kept=bench/results/writer_shares

measure_kernels() {
  "$CUDAL1_PYTHON" bench/writer/kernel_rows.py --cudal1 ./cudal1 --commit "$commit" --gpu "${gpu:-none}"
}

measure_suite() {
  optimise_share ./cudal1 -- --device cuda --budget-evals 20
  keep_share
  merge_shares ./cudal1 bench/writer.sh bench/results/optimized
  "$CUDAL1_PYTHON" bench/writer/suite_rows.py "$records/merged" --optimized "${shares[@]}" --tasks "$tasks" \
    --gpu "${gpu:-none}" --commit "$commit"
}

case $what in
  kernels) measure_kernels ;;
  suite) measure_suite ;;
  *) echo "$usage" >&2; exit 2 ;;
esac
