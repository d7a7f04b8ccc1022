#!/usr/bin/env bash
# Measures the evaluator's claims on this machine's GPU: bench/evaluator.sh [--only NAME…] [--output FILE]
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
build_release BENCHMARKS evaluator_bench
exec build/release/bin/evaluator_bench --commit "$commit" "$@"
