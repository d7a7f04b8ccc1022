#!/usr/bin/env bash
# Exports the tasks of a suite, compares each with eager PyTorch and writes bench/results/suite_export.json:
#   bench/suite_export.sh SUITE.jsonl [options of `cudal1 check`, such as --device cuda or --split 1/4]
# The suite's part `paper` is measured. Shares that were measured before, of the same commit, count as well.
set -euo pipefail
suite=$(readlink -f "${1:?usage: bench/suite_export.sh SUITE.jsonl [options of cudal1 check]}")
shift
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 || true)
records=build/suite_export/$commit
mkdir -p "$records"
record=$records/$(printf '%s' "$*" | tr -c '[:alnum:]' _).json
./cudal1 tasks "$suite" --suite paper --json >"$records/tasks"
./cudal1 check "$suite" --suite paper --json "$@" >"$record.part" || [[ -s $record.part ]]  # that all tasks failed is a result, too
mv "$record.part" "$record"
scripts/suite_export_results.py "$records" --gpu "${gpu:-none}" --commit "$commit"
