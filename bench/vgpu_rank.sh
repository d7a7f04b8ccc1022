#!/usr/bin/env bash
# Times and counters of the kernels in tests/vgpu_conformance, for the virtual GPU's timing model:
#   bench/vgpu_rank.sh compile DIR                 PTX of all variants; needs clang
#   bench/vgpu_rank.sh measure DIR RESULT.jsonl    times on this machine's GPU; needs its driver only
#   bench/vgpu_rank.sh count DIR RESULT.jsonl      counters of the virtual GPU, on any machine
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
build_release BENCHMARKS vgpu_rank
exec build/release/bin/vgpu_rank "$@"
