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
./cudal1 --version >/dev/null
source .setup/environment.sh
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 || true)
records=${CUDAL1_RECORDS:-build/writer}
kept=bench/results/writer_shares

without_place() { sed "s#$PWD/##g" "$1" >"$2"; }  # without_place FILE COPY: wherever this folder lies

measure_kernels() {
  "$CUDAL1_PYTHON" bench/writer/kernel_rows.py --cudal1 ./cudal1 --commit "$commit" --gpu "${gpu:-none}"
}

measure_suite() {
  local name share shares whole=() i
  name=$(printf '%s' "${selection[*]:-all}" | tr -cs '[:alnum:]' _ | sed 's/^_//')
  share=$records/$name
  mkdir -p "$share"
  ./cudal1 optimize "$suite" "${selection[@]}" --device cuda --budget-evals 20 --no-explain -o "$share" \
    --archive "$share/archive.sqlite" --json >"$share/optimize.new"
  mkdir -p "$kept/$name"  # only now: what was cut off is not kept
  without_place "$share/optimize.new" "$kept/$name/optimize.json"
  without_place "$share/bench/results.jsonl" "$kept/$name/results.jsonl"
  "$CUDAL1_PYTHON" bench/writer/search_stages.py "$share/archive.sqlite" | tee "$kept/$name/stages.json"
  echo "$commit" >"$kept/$name/commit"
  shares=("$kept"/*/optimize.json)
  ./cudal1 bench --merge "${shares[@]%/optimize.json}" -o "$records/merged" >"$records/table"
  cat "$records/table"
  for ((i = 0; i < ${#selection[@]}; ++i)); do
    [[ ${selection[i]} == --suite ]] && whole=(--suite "${selection[i + 1]}")
  done
  local tasks
  tasks=$(./cudal1 tasks "$suite" "${whole[@]}" --json | "$CUDAL1_PYTHON" -c 'import json, sys; print(len(json.load(sys.stdin)["tasks"]))')
  without_place "$records/table" "$records/table.txt"
  { printf 'bench/writer.sh suite %s, commit %s, %s\n' "$(basename "$suite") ${whole[*]}" "$commit" "${gpu:-none}"; cat "$records/table.txt"; } \
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
