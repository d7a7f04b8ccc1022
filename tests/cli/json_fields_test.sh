#!/usr/bin/env bash
# Every field that the commands print as JSON is named in docs/json.md, under its command.
# Usage: json_fields_test.sh BINARY SOURCE_FOLDER MODEL_TOOL
set -uo pipefail
cudal1=$1 source=$2
compgen -G '/usr/bin/clang-[0-9]*' >/dev/null || { echo 'SKIP: no clang in /usr/bin'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CUDAL1_CACHE_DIR=$work/cache CUDAL1_DATA_DIR=$work/data
failed=0

fail() {
  echo "FAILED $*"
  failed=1
}

# The objects are indented, and a string is never broken: a line begins with at most one field.
fields() { sed -nE 's/^ *"([^"]+)": .*/\1/p' "$1" | sort -u; }

# documented COMMAND: what stands in backticks there, without what it is a field of
documented() {
  awk -v heading="## $1" '/^## /{inside = $0 == heading} inside' "$source/docs/json.md" | grep -oE '`[^`]+`' |
    tr -d '`' | sed -E 's/.*\.//' | sort -u
}

# documented_in COMMAND…: under one of these headings
documented_in() {
  local command
  for command in "$@"; do documented "$command"; done | sort -u
}

# expect_documented COMMANDS FILE FIELD…: all of the file's fields are, and these are among them
expect_documented() {
  local command=$1 file=$2 missing wanted
  shift 2
  for wanted in "$@"; do
    fields "$file" | grep -qx "$wanted" || fail "$command printed no $wanted:" "$(head -c 2000 "$file")"
  done
  # shellcheck disable=SC2086
  missing=$(comm -23 <(fields "$file") <(documented_in $command))
  [[ -z $missing ]] || fail "docs/json.md, $command: not there:" $missing
}

softmax=$source/examples/row_softmax add=$source/examples/vector_add
evaluate() { "$cudal1" eval --json --device vgpu --mode fast --no-archive "$@" </dev/null; }

evaluate "$softmax" "$softmax/ok-fast.cu" "$softmax/ok-empty.cu" "$add/plan_error-unknown_node.cu" \
  "$add/compile_error-typo.cu" "$softmax/wrong_result-last_row.cu" >"$work/eval.json"
expect_documented eval "$work/eval.json" reward error line column accuracy margin buckets profile steps occupancy \
  sectors_per_request
evaluate --debug "$add" "$add/forbidden-printf.cu" >"$work/debug.json"
expect_documented eval "$work/debug.json" printed

"$cudal1" expand --json "$softmax" "$softmax/ok-fast.cu" >"$work/launches.json"
expect_documented expand "$work/launches.json" launch tensor scalar
for task in "$source"/examples/*/; do  # nodes of all sorts
  "$cudal1" expand --json "$task" "$softmax/ok-empty.cu"
done >"$work/nodes.json"
expect_documented expand "$work/nodes.json" node kwargs int float
"$cudal1" expand --json "$add" "$add/plan_error-unknown_node.cu" >"$work/wrong.json"
[[ $? == 1 ]] || fail 'expand of a wrong program: exit code'
expect_documented expand "$work/wrong.json" status error message line column

# What optimize prints of a program is what eval prints, of a directive what explain prints.
"$cudal1" optimize --json --device vgpu --budget-evals 2 --seed 1 --archive "$work/archive.sqlite" \
  -o "$work/optimized" "$source/examples/bias_gelu" >"$work/optimize.json" 2>"$work/optimize.log" </dev/null
expect_documented 'optimize eval explain' "$work/optimize.json" results evaluations seconds stopped best techniques \
  directive share program package
"$cudal1" bench --json --device vgpu --policy search --samples 2 --seed 1 "$source/examples/bias_gelu" >"$work/bench.json" \
  2>"$work/bench.log" </dev/null
expect_documented bench "$work/bench.json" samples figures answer status pass_at fast_p_at k p share statuses cost
printf '//! fuse add_1 gelu_1\n//! graph\n' >"$work/two.cu"
"$cudal1" explain --json --device vgpu --mode fast "$source/examples/bias_gelu" "$work/two.cu" >"$work/explain.json"
expect_documented explain "$work/explain.json" task program speedup device product_of_alone techniques share alone \
  interplay effect
"$cudal1" techniques --json >"$work/techniques.json"
expect_documented techniques "$work/techniques.json" name directive what helps hurts example parameters default choices

mkdir -p "$CUDAL1_CACHE_DIR/models" && "$3" sample "$CUDAL1_CACHE_DIR/models/small.gguf"
echo nothing >"$CUDAL1_CACHE_DIR/models/broken.gguf"
"$cudal1" models --json >"$work/models.json"
expect_documented models "$work/models.json" folder models path architecture parameters bytes types type sha256 error
"$cudal1" models verify --json "$CUDAL1_CACHE_DIR/models/small.gguf" >"$work/verified.json"
expect_documented models "$work/verified.json" published

"$cudal1" prompt --json --device vgpu "$add" --repair "$add/plan_error-unknown_node.cu" >"$work/prompt.json" 2>/dev/null
expect_documented prompt "$work/prompt.json" task gpu form messages role content parts name tokens included \
  why_left_out context_tokens answer_tokens seed
"$cudal1" doctor --json >"$work/doctor.json"
expect_documented doctor "$work/doctor.json" ready findings state
exit "$failed"
