#!/usr/bin/env bash
# Measures `cudal1 bench` itself on this machine's GPU:
#   bench/pytorch.sh --smoke                        three small modules of tests/bench, every baseline; prints what fails
#                                                   and where the time of a call goes
#   bench/pytorch.sh SUITE.jsonl [options of cudal1 bench: --suite paper, --split 1/3 …]
# The second writes bench/results/pytorch.json, and the tables of the bench: empty_program.txt and .csv. Shares that were
# measured before, of the same commit, count as well: the suite's time is the sum of all of them. Caches are empty at the
# start of each.
set -euo pipefail
arguments=("$@")
suite=${1:?usage: bench/pytorch.sh --smoke | SUITE [options of cudal1 bench]}
[[ $suite == --smoke ]] || suite=$(readlink -f "$suite")
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
./cudal1 --version >/dev/null
source .setup/environment.sh
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 || true)
records=build/pytorch/$commit

smoke() {
  local folder=$records/smoke
  rm -rf "$folder"
  mkdir -p "$folder"
  ./cudal1 bench tests/bench/modules --baselines all -o "$folder" "${arguments[@]:1}" || echo "bench ended with exit code $?"
  "$CUDAL1_PYTHON" - "$folder/results.jsonl" <<'PYTHON'
import json, statistics, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    print(f"{row['name']}: {row['status']} {row['error']} ({row['seconds']:.1f} s of measuring)")
    for way in row["ways"]:
        times = way.get("device_ms")
        said = f"{1e3 * statistics.median(times):8.1f} us, {len(times)} rounds, host {1e3 * way['host_ms']:.1f} us, made in {way['make_seconds']:.1f} s" if times else f"NOT RUN: {way.get('why_not')}"
        print(f"  {way['way']:24} {said}")
PYTHON
  "$CUDAL1_PYTHON" bench/pytorch/beside_plain.py "$folder/results.jsonl" tests/bench/modules --above-ms 0 -o "$folder/plain.json" \
    && cat "$folder/plain.json"
  find tests/bench/modules -name '*.py' -print0 | sort -z | xargs -0 "$CUDAL1_PYTHON" bench/pytorch/call_pieces.py
}

if [[ $suite == --smoke ]]; then
  smoke
  exit
fi
share=$records/$(printf '%s' "${arguments[*]:1}" | tr -c '[:alnum:]' _)
rm -rf "$share"  # nothing is taken over, and nothing compiled or exported before counts
mkdir -p "$share/cache"
export CUDAL1_CACHE_DIR=$PWD/$share/cache
begin=$(date +%s.%N)
./cudal1 bench "$suite" -o "$share" "${arguments[@]:1}" || echo "bench ended with exit code $?"
end=$(date +%s.%N)
"$CUDAL1_PYTHON" -c "print($end - $begin)" >"$share/seconds"
rm -rf "$share/cache"
shares=("$records"/*/seconds)
./cudal1 bench --merge "${shares[@]%/seconds}" -o "$records/merged" >"$records/table"
cat "$records/table"
seconds=$(cat "${shares[@]}" | "$CUDAL1_PYTHON" -c 'import sys; print(sum(map(float, sys.stdin)))')
selection=()
for ((i = 1; i < ${#arguments[@]}; ++i)); do
  [[ ${arguments[i]} == --suite ]] && selection=(--suite "${arguments[i + 1]}")
done
tasks=$(./cudal1 tasks "$suite" "${selection[@]}" --json | "$CUDAL1_PYTHON" -c 'import json, sys; print(len(json.load(sys.stdin)["tasks"]))')
{ printf 'bench/pytorch.sh %s, commit %s, %s\n' "$(basename "$suite") ${selection[*]}" "$commit" "${gpu:-none}"; sed "s#$PWD/##g" "$records/table"; } >bench/results/empty_program.txt
cp "$records/merged/results.csv" bench/results/empty_program.csv
write_rows() {
  "$CUDAL1_PYTHON" bench/pytorch/rows.py "$records/merged" --seconds "$seconds" --tasks "$tasks" --shares "${shares[@]%/seconds}" --gpu "${gpu:-none}" --commit "$commit"
}
write_rows  # the comparison takes minutes, and what is known without it is kept if somebody ends that
if "$CUDAL1_PYTHON" bench/pytorch/beside_plain.py "$share/results.jsonl" "$suite" -o "$share/plain.json"; then write_rows; fi
