#!/usr/bin/env bash
# Measures the writer and the search on this machine's GPU; both write rows of bench/results/writer.json:
#   bench/writer.sh kernels                                   single kernels beside the library
#   bench/writer.sh suite SUITE.jsonl [--suite paper] [--split 1/6 …]
# The second optimises every task (20 evaluations each) and measures the packages beside PyTorch's own ways. Other shares
# that were measured before count as well, whichever commit that was: rows name all of them. CUDAL1_RECORDS names a folder
# for what came of the shares, so that it can travel between machines.
set -euo pipefail
usage='usage: bench/writer.sh kernels | suite SUITE [--suite NAME] [--split K/N]'
what=${1:?$usage}
shift
[[ $what != suite ]] || { suite=$(readlink -f "${1:?$usage}"); shift; }
selection=("$@")
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
./cudal1 --version >/dev/null
source .setup/environment.sh
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 || true)
records=${CUDAL1_RECORDS:-build/writer}

measure_kernels() {
  "$CUDAL1_PYTHON" bench/writer/kernel_rows.py --cudal1 ./cudal1 --commit "$commit" --gpu "${gpu:-none}"
}

measure_suite() {
  local share shares whole=() i
  share=$records/$(printf '%s' "${selection[*]:-all}" | tr -c '[:alnum:]' _)
  mkdir -p "$share"
  ./cudal1 optimize "$suite" "${selection[@]}" --device cuda --budget-evals 20 --no-explain -o "$share" \
    --archive "$share/archive.sqlite" --json >"$share/optimize.new" || echo "optimize ended with exit code $?"
  mv "$share/optimize.new" "$share/optimize.json"  # not what was cut off
  echo "$commit" >"$share/commit"
  shares=("$records"/*/optimize.json)
  ./cudal1 bench --merge "${shares[@]/%optimize.json/bench}" -o "$records/merged" >"$records/table"
  cat "$records/table"
  for ((i = 0; i < ${#selection[@]}; ++i)); do
    [[ ${selection[i]} == --suite ]] && whole=(--suite "${selection[i + 1]}")
  done
  local tasks
  tasks=$(./cudal1 tasks "$suite" "${whole[@]}" --json | "$CUDAL1_PYTHON" -c 'import json, sys; print(len(json.load(sys.stdin)["tasks"]))')
  { printf 'bench/writer.sh suite %s, commit %s, %s\n' "$(basename "$suite") ${whole[*]}" "$commit" "${gpu:-none}"; sed "s#$PWD/##g" "$records/table"; } \
    >bench/results/optimized.txt
  cp "$records/merged/results.csv" bench/results/optimized.csv
  "$CUDAL1_PYTHON" bench/writer/suite_rows.py "$records/merged" --optimized "${shares[@]}" --tasks "$tasks" \
    --gpu "${gpu:-none}" --commit "$commit"
}

case $what in
  kernels) measure_kernels ;;
  suite) measure_suite ;;
  *) echo "$usage" >&2; exit 2 ;;
esac
