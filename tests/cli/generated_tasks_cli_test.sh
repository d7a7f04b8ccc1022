#!/usr/bin/env bash
# `tasks --generate`, without Python. Usage: generated_tasks_cli_test.sh BINARY
set -uo pipefail
cudal1=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CUDAL1_CACHE_DIR=$work/cache CUDAL1_DATA_DIR=$work/data CUDAL1_PYTHON=/no/python
cd "$work" || exit 1
failed=0

expect() {  # expect NAME EXIT_CODE COMMAND…: its output goes to out, its messages to err
  local name=$1 code=$2 actual
  shift 2
  "$@" >"$work/out" 2>"$work/err" </dev/null
  actual=$?
  [[ $actual == "$code" ]] || fail "$name: exit code $actual, expected $code"
}
fail() { failed=$((failed + 1)); echo "FAILED $1"; cat "$work/out" "$work/err"; }
said() { grep -qE -- "$2" "$work/$1" || fail "no line of $1 matches: $2"; }

expect 'a list' 0 "$cudal1" tasks --generate 14 --seed 3
[[ $(wc -l <out) == 15 ]] || fail 'a line a task'
said out '^product_[0-9a-f]{12} +(train|validation|test) +0\.[0-9]{2} +[0-9]+ +[0-9.]+$'

expect 'task folders' 0 "$cudal1" tasks --generate 14 --seed 3 --export once
said out '^14 tasks written to once \(seed 3\)$'
expect 'the same again' 0 "$cudal1" tasks --generate 14 --seed 3 --export again --json
said out '"expected_reference_us": '
said out '"folder": "again/'
diff -r once again >out 2>err || fail 'the same seed gives the same tasks'
expect 'another seed' 0 "$cudal1" tasks --generate 14 --seed 4 --export other
diff -r once other >/dev/null && fail 'another seed gives other tasks'

expect 'a suite like any other' 0 "$cudal1" tasks once
[[ $(wc -l <out) == 15 ]] || fail 'all tasks are found'
: >empty.cu
for task in once/*; do
  expect "$task can be planned" 0 "$cudal1" expand "$task" empty.cu
  [[ -s $task/source.py ]] || fail "$task has no text"
done

expect 'one split' 0 "$cudal1" tasks --generate 14 --split-of test --difficulty 1 --json
[[ $(grep -c '"split": "test"' out) == 14 ]] || fail 'all are of the split'
expect 'bounds' 0 "$cudal1" tasks --generate 7 --reference-us 30 60 --json
while read -r us; do awk -v us="$us" 'BEGIN { exit !(us >= 30 && us <= 60) }' || fail "$us us is out of bounds"; done \
  < <(sed -nE 's/.*"expected_reference_us": ([0-9.]+).*/\1/p' out)

expect 'no such split' 2 "$cudal1" tasks --generate 3 --split-of dev
expect 'beyond the hardest' 2 "$cudal1" tasks --generate 3 --difficulty 1.5
expect 'a suite and tasks of its own' 2 "$cudal1" tasks once --generate 3
said err '^cudal1: --generate makes tasks of its own'
expect 'neither' 2 "$cudal1" tasks
said err '^cudal1: path is required'
expect 'bounds the wrong way round' 2 "$cudal1" tasks --generate 3 --reference-us 60 30
expect 'bounds that no task meets' 1 "$cudal1" tasks --generate 3 --reference-us 1000000 2000000
said err '^cudal1: no further product task'
printf '%s failed\n' "$failed"
[[ $failed == 0 ]]
