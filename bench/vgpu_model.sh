#!/usr/bin/env bash
# Fits the virtual GPU's timing model to the times in bench/results/vgpu_kernels_h200.jsonl and writes gpus/model.json
# and bench/results/vgpu_rank.json, which says how well it does on the families it was not fitted to. Needs no GPU:
#   bench/vgpu_model.sh            counts the kernels again (minutes)
#   bench/vgpu_model.sh --stored   takes the counters of bench/results/vgpu_kernels_counted.jsonl
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
times=bench/results/vgpu_kernels_h200.jsonl
counters=bench/results/vgpu_kernels_counted.jsonl
./cudal1 --version >/dev/null
cmake -B build/release -DCUDAL1_BUILD_BENCHMARKS=ON . >/dev/null
cmake --build build/release --target vgpu_rank fit_vgpu_model >/dev/null
if [[ "${1:-}" != --stored ]]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  build/release/bin/vgpu_rank compile "$folder"
  build/release/bin/vgpu_rank count "$folder" "$counters" --measured "$times"
fi
exec build/release/bin/fit_vgpu_model "$counters" "$times" --gpu h200 --start bench/vgpu_model/start.json --write gpus/model.json \
  --report bench/results/vgpu_rank.json
