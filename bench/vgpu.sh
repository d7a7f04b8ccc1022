#!/usr/bin/env bash
# Measures the virtual GPU's speed and memory on this machine, which should have nothing else to do:
#   bench/vgpu.sh [--only NAME…] [--output FILE]
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
./cudal1 --version >/dev/null
cmake -B build/release -DCUDAL1_BUILD_BENCHMARKS=ON . >/dev/null
cmake --build build/release --target vgpu_bench >/dev/null
commit=${CUDAL1_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}
exec build/release/bin/vgpu_bench --commit "$commit" "$@"
