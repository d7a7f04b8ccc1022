#!/usr/bin/env bash
# Measures on this machine's GPU how the match rule judges tests/match_rule. If every program is judged as its name says,
# writes bench/results/match_rule.json and the tables of tests/match_rule/README.md; else neither.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
build_release TESTS match_rule_on_gpu_test
record=$(mktemp)
trap 'rm -f "$record"' EXIT
CUDAL1_MATCH_RULE_TABLE=$record build/release/bin/match_rule_on_gpu_test
scripts/match_rule_table.py "$record" --gpu "$gpu" --commit "$commit"
