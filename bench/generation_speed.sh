#!/usr/bin/env bash
# Measures how fast texts are written on this machine's GPU, which should have nothing else to do:
#   bench/generation_speed.sh [--model FILE] [--output FILE] [--dtype f16|bf16|f32] [--groups N] [--anew]
# bench/generator.sh gpu keeps the row of bench/results.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
build_release BENCHMARKS generation_speed
exec build/release/bin/generation_speed --commit "$commit" "$@"
