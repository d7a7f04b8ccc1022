#!/usr/bin/env bash
# Measures the virtual GPU's speed and memory on this machine, which should have nothing else to do:
#   bench/vgpu.sh [--only NAME…] [--output FILE]
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
build_release BENCHMARKS vgpu_bench
exec build/release/bin/vgpu_bench --commit "$commit" "$@"
