#!/usr/bin/env bash
# Measures on this machine's GPU how the match rule judges tests/match_rule, and writes bench/results/match_rule.json.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
./cudal1 --version >/dev/null
cmake -B build/release -DCUDAL1_BUILD_TESTS=ON . >/dev/null
cmake --build build/release --target match_rule_on_gpu_test >/dev/null
commit=${CUDAL1_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}
record=$(mktemp)
trap 'rm -f "$record"' EXIT
failed=0
CUDAL1_MATCH_RULE_TABLE=$record build/release/bin/match_rule_on_gpu_test || failed=1
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
scripts/match_rule_table.py "$record" --gpu "$gpu" --commit "$commit"
exit "$failed"
