#!/usr/bin/env bash
# How long the first evaluation on the virtual GPU takes after set-up: nothing compiled, nothing in the archive. Puts a
# row into bench/results/vgpu.json: bench/vgpu_eval.sh [RUNS] [RESULT.json]
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
runs=${1:-5}
output=${2:-bench/results/vgpu.json}
task=examples/row_softmax
program=$task/ok-fast.cu
commit=${CUDAL1_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}
./cudal1 --version >/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

seconds=()
for ((run = 0; run < runs; ++run)); do
  export CUDAL1_CACHE_DIR=$scratch/$run/cache CUDAL1_DATA_DIR=$scratch/$run/data
  begin=$EPOCHREALTIME
  ./cudal1 eval --device vgpu "$task" "$program" >"$scratch/table"
  end=$EPOCHREALTIME
  grep -q 'ok-fast.cu  *ok  .*predicted' "$scratch/table" || { cat "$scratch/table"; exit 1; }
  seconds+=("$(awk "BEGIN { print $end - $begin }")")
  echo "run $((run + 1)): ${seconds[-1]} s"
done

python3 - "$commit" "${seconds[@]}" <<'ROW' >"$scratch/row"
import json, os, statistics, sys
seconds = sorted(float(text) for text in sys.argv[2:])
value = statistics.median(seconds)
print(json.dumps({
    "what": "row_softmax/ok-fast.cu evaluated on the virtual GPU, nothing compiled before, median of all runs",
    "value": value, "unit": "s", "bar": "under 5 s on two cores", "holds": value < 5.0, "commit": sys.argv[1],
    "details": {"runs": len(seconds), "fastest": seconds[0], "slowest": seconds[-1], "cores": os.cpu_count()},
}))
ROW
scripts/add_result.py "$output" --command "bench/vgpu_*.sh" --machine "virtual GPU, $(nproc) cores" <"$scratch/row"
cat "$scratch/row"
