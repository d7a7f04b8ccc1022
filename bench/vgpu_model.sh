#!/usr/bin/env bash
# Fits the virtual GPU's timing model to the times in bench/results/vgpu_kernels_h200.jsonl and writes gpus/model.json,
# bench/results/vgpu_rank.json, which says how well it does on the families it was not fitted to, and the rows of the
# bar in bench/results/vgpu.json. Needs no GPU. Variants that nobody has timed are left out.
#   bench/vgpu_model.sh            counts the kernels again (minutes)
#   bench/vgpu_model.sh --stored   takes the counters of bench/results/vgpu_kernels_counted.jsonl
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
times=bench/results/vgpu_kernels_h200.jsonl
counters=bench/results/vgpu_kernels_counted.jsonl
if [[ "${1:-}" != --stored ]]; then
  build_release BENCHMARKS vgpu_rank
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  build/release/bin/vgpu_rank compile "$folder"
  build/release/bin/vgpu_rank count "$folder" "$folder/counted.jsonl" --measured "$times"
  cp "$folder/counted.jsonl" "$counters"
fi
build_release BENCHMARKS fit_vgpu_model
build/release/bin/fit_vgpu_model "$counters" "$times" --gpu h200 --start bench/vgpu_model/start.json \
  --write gpus/model.json --report bench/results/vgpu_rank.json --results bench/results/vgpu.json --commit "$commit"
