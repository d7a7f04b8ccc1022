#!/usr/bin/env bash
# Measures what a call of an exported module costs, on this machine's GPU: bench/package_call.sh [--output FILE]
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
build_release BENCHMARKS cudal1_bare_launch
source .setup/environment.sh
exec "$CUDAL1_PYTHON" bench/package/call_cost.py --cudal1 "$PWD/build/release/bin/cudal1" \
  --bare "$PWD/build/release/bin/libcudal1_bare_launch.so" --commit "$commit" "$@"
