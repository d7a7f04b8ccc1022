#!/usr/bin/env bash
# Times and counters of the kernels in tests/vgpu_conformance, for the virtual GPU's timing model:
#   bench/vgpu_rank.sh compile DIR                 PTX of all variants; needs clang
#   bench/vgpu_rank.sh measure DIR RESULT.jsonl    times on this machine's GPU; needs its driver only
#   bench/vgpu_rank.sh count DIR RESULT.jsonl      counters of the virtual GPU, on any machine
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
./cudal1 --version >/dev/null
cmake -B build/release -DCUDAL1_BUILD_BENCHMARKS=ON . >/dev/null
cmake --build build/release --target vgpu_rank >/dev/null
exec build/release/bin/vgpu_rank "$@"
