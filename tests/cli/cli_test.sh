#!/usr/bin/env bash
# Drives the real binary and compares what it prints. Usage: cli_test.sh BINARY SOURCE_FOLDER
set -uo pipefail
cudal1=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CUDAL1_CACHE_DIR=$work/cache CUDAL1_DATA_DIR=$work/data
source "$(dirname "${BASH_SOURCE[0]}")/../support/check.sh"

softmax=$source/examples/row_softmax
printf '{ "format": "cudal1.graph", ' >"$work/broken.json"
printf '{ "format": "cudal1.graph", "version": 7 }' >"$work/newer.json"
head -c 100 /dev/urandom >"$work/garbage.cu"

check 'version' 0 '^cudal1 [0-9]' "$cudal1" --version
check 'help names an example' 0 'Example: cudal1 eval' "$cudal1" eval --help
check 'no command' 2 'subcommand' "$cudal1"
check 'unknown command' 2 "no command 'frob'" "$cudal1" frob
check 'unknown option' 2 'nonsense' "$cudal1" eval --nonsense "$softmax" "$softmax/ok-fast.cu"
check 'unknown word' 2 'not one of its values' "$cudal1" eval --mode sloppy "$softmax" "$softmax/ok-fast.cu"
for option in '--time-limit nan' '--time-limit 0' '--window nan' '--window -3' '--seed -1' '--seed 1.5'; do
  # shellcheck disable=SC2086
  check "no number: $option" 2 "^cudal1: .*${option#* }.* no (whole )?number" "$cudal1" eval $option "$softmax" \
    "$softmax/ok-fast.cu"
done
head -c 5000000 /dev/zero | tr '\0' x >"$work/large.cu"
check 'a program too large' 1 'large.cu:1:1: parse_error: the text has 5000000 bytes' "$cudal1" expand "$softmax" \
  "$work/large.cu"
mkfifo "$work/pipe.cu"
check 'a pipe is no program' 1 'pipe.cu: is not a regular file' timeout 20 "$cudal1" expand "$softmax" "$work/pipe.cu"
check 'names are escaped' 1 '^cudal1: .*no-such\\x1b\[2J' "$cudal1" expand "$work/no-such"$'\e[2J' \
  "$softmax/ok-fast.cu"
check 'missing program' 1 'no-such.cu: cannot open' "$cudal1" eval "$softmax" "$work/no-such.cu"
check 'expand shows the plan' 0 'launch row_softmax' "$cudal1" expand "$softmax" "$softmax/ok-fast.cu"
check 'expand as JSON' 0 '"buffers"' "$cudal1" expand --json "$softmax" "$softmax/ok-fast.cu"
check 'expand of a wrong program as JSON' 1 '^  "status": "plan_error"' "$cudal1" expand --json \
  "$source/examples/vector_add" "$source/examples/vector_add/plan_error-unknown_node.cu"
check 'expand of garbage as JSON' 1 '^    "message": ' "$cudal1" expand --json "$softmax" "$work/garbage.cu"
check 'missing task' 1 'no-such-task' "$cudal1" expand "$work/no-such-task" "$softmax/ok-fast.cu"
check 'broken JSON' 1 'broken.json' "$cudal1" expand "$work/broken.json" "$softmax/ok-fast.cu"
check 'newer version' 1 'version 7' "$cudal1" expand "$work/newer.json" "$softmax/ok-fast.cu"
check 'binary garbage' 1 'garbage.cu:[0-9]+:[0-9]+: parse_error' "$cudal1" expand "$softmax" "$work/garbage.cu"
cat >"$work/unknown_operator.json" <<'END'
{"format": "cudal1.graph", "version": 1, "name": "unknown",
 "inputs": [{"name": "x", "dtype": "f32", "shape": [8], "draw": {"kind": "normal"}}],
 "nodes": [{"name": "relu_1", "op": "aten::nosuch", "args": ["x"]}], "outputs": ["relu_1"]}
END
check 'errors of nodes name the file' 1 "^cudal1: $work/unknown_operator.json: node relu_1 .aten::nosuch.:" \
  "$cudal1" expand "$work/unknown_operator.json" "$softmax/ok-fast.cu"
sed 's/"unknown"/"a\\nb\\u202e"/; s/nosuch/relu/' "$work/unknown_operator.json" >"$work/injected.json"
check 'a name cannot end the message' 1 '^cudal1: .*"a\\nb\\u202e" is not a name: ' "$cudal1" expand \
  "$work/injected.json" "$softmax/ok-fast.cu"
check 'unknown node' 1 ':[0-9]+:[0-9]+: plan_error' "$cudal1" expand "$source/examples/vector_add" \
  "$source/examples/vector_add/plan_error-unknown_node.cu"
check 'unknown virtual GPU' 2 "^cudal1: --gpu: there is no GPU profile 'gtx9'; there are .*h200" "$cudal1" eval --device vgpu --gpu gtx9 "$softmax" "$softmax/ok-fast.cu"
check 'unknown check' 2 "^cudal1: --checks: 'spelling' is no check" "$cudal1" eval --device vgpu --checks spelling "$softmax" "$softmax/ok-fast.cu"
prompt() { "$cudal1" prompt --device vgpu "$@"; }
check 'a prompt follows the protocol' 0 '^## Performance analysis$' prompt "$softmax"
check 'a prompt has the format card' 0 '^### pointwise$' prompt "$softmax"
check 'what a prompt is made of' 0 '^  format card +[0-9]+ tokens$' prompt "$softmax"
check 'a small context takes the card in brief' 0 '^  format card +[0-9]+ left out: there is no room' prompt "$softmax" \
  --context 5000 --answer-tokens 1000
pairs="$work/pairs.jsonl"
printf '%s\n' '{"task":"rows_0123456789ab","split":"train","group":"g","prompt":"p","completion":"c","plan_hash":"h","speedup":2.0,"reward":0.69,"exemplars":0,"form":"directives"}' >"$pairs"
check 'examples for other trainers' 0 '^[{]"prompt":\[[{]"role":"user","content":"p"[}]\],"completion":' "$cudal1" data export "$pairs" \
  --format trl -o -
check 'an unknown format' 2 '^cudal1: --format: parquet not in' "$cudal1" data export "$pairs" --format parquet -o -
printf '{"task":\n' >>"$pairs"
check 'a damaged line of examples' 1 'pairs.jsonl:2: this is no JSON' "$cudal1" data export "$pairs" --format verl -o -
check 'a compact prompt' 0 '^softmax_1 = softmax\(x, -1\) f32\[4096,1024\]$' prompt "$softmax" --form compact
check 'a context that is too small' 1 "^cudal1: the graph of 'row_softmax' .1 nodes. does not fit" prompt "$softmax" \
  --context 500
check 'a failed program goes back with its error' 0 '^line [0-9]+, column [0-9]+: there is no node' prompt \
  "$source/examples/vector_add" --repair "$source/examples/vector_add/plan_error-unknown_node.cu"
check 'a program that is right needs no repair' 1 'ok-fast.cu: there is nothing to repair' prompt "$softmax" \
  --repair "$softmax/ok-fast.cu"
check 'a prompt makes no archive' 1 'no-such.sqlite: there is no such archive' prompt "$softmax" \
  --archive "$work/no-such.sqlite"
if compgen -G '/usr/bin/clang-[0-9]*' >/dev/null; then
  printf '//! fuse softmax_1\n' >"$work/fused.cu"
  check 'programs on record' 0 'fused.cu +ok' "$cudal1" eval --device vgpu --mode fast --archive "$work/prompted.sqlite" \
    "$softmax" "$work/fused.cu" "$softmax/ok-empty.cu" "$softmax/wrong_result-last_row.cu"
  check 'are shown as exemplars' 0 '^Program 2, score [0-9.]+:$' prompt "$softmax" --archive "$work/prompted.sqlite"
  check 'also to small models' 0 '^Program, score [0-9.]+:$' prompt "$softmax" --form compact \
    --archive "$work/prompted.sqlite"
  check 'a failure on record can be repaired' 0 '^Your program failed with the status .wrong_result' prompt "$softmax" \
    --archive "$work/prompted.sqlite" --repair "$softmax/wrong_result-last_row.cu"
  check 'the example of the card is right' 0 'example_kernel.cu +ok' "$cudal1" eval --device vgpu --mode fast \
    --no-archive "$source/prompts/example_graph.json" "$source/prompts/example_kernel.cu" \
    "$source/prompts/example_directives.cu"
  check 'a predicted time' 0 'ok-fast.cu +ok +[0-9.]+x +predicted' "$cudal1" eval --device vgpu --mode fast \
    --no-archive "$softmax" "$softmax/ok-fast.cu"
  check 'where the time goes' 0 '"occupancy"' "$cudal1" eval --device vgpu --gpu a100 --mode fast --no-archive --json \
    "$softmax" "$softmax/ok-fast.cu"
  add=$source/examples/vector_add
  { printf '#line 70 "/etc/passwd"\nfoo bar;\n' && cat "$softmax/ok-fast.cu"; } >"$work/renamed.cu"
  check 'lines that the program renamed' 0 "renamed.cu +compile_error +line 2: program.cu.2.: unknown type" \
    "$cudal1" eval --device vgpu --mode fast --no-archive "$softmax" "$work/renamed.cu"
  { printf '\xEF\xBB\xBF' && cat "$softmax/ok-fast.cu"; } >"$work/marked.cu"
  check 'a byte-order mark' 0 'marked.cu +ok' "$cudal1" eval --device vgpu --mode fast --no-archive --verify-only \
    "$softmax" "$work/marked.cu"
  # No folder can be made below a file, whoever runs this test.
  no_folder=$work/broken.json/archive.sqlite
  check 'an archive that cannot be opened costs no result' 1 'ok-fast.cu +ok' "$cudal1" eval --device vgpu --mode fast \
    --verify-only --archive "$no_folder" "$softmax" "$softmax/ok-fast.cu"
  check 'and is reported' 1 "^cudal1: $no_folder: .*nothing is recorded" "$cudal1" eval --device vgpu --mode fast \
    --verify-only --archive "$no_folder" "$softmax" "$softmax/ok-fast.cu"
  check 'printf is not judged' 0 'forbidden-printf.cu +forbidden' "$cudal1" eval --device vgpu --mode fast --no-archive \
    "$add" "$add/forbidden-printf.cu"
  check 'what a debugged program prints' 0 '^    \| adding [0-9]+ elements$' "$cudal1" eval --device vgpu --debug \
    --mode fast "$add" "$add/forbidden-printf.cu"
  sed 's/printf(.*);/{ printf("first\\n"); assert(count < 3); }/' "$add/forbidden-printf.cu" >"$work/asserts.cu"
  check 'an assert that fails' 0 "asserts.cu +illegal_access +line [0-9]+.*assertion: 'count < 3' does not hold" \
    "$cudal1" eval --debug --mode fast "$add" "$work/asserts.cu"
  check 'what was printed before' 0 '^    \| first$' "$cudal1" eval --debug --mode fast "$add" "$work/asserts.cu"
  check 'debugging needs the virtual GPU' 1 'needs the virtual GPU' "$cudal1" eval --device cuda --debug "$add" \
    "$work/asserts.cu"
else
  echo 'left out: what needs clang, which is not in /usr/bin'
fi
# Its exit code depends on the machine; what it prints does not.
"$cudal1" doctor --json >"$work/doctor.json" 2>&1
if grep -q '"findings"' "$work/doctor.json"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
if [[ ! -e /dev/nvidiactl ]]; then
  check 'no GPU is one line' 1 '^cudal1: no GPU' "$cudal1" eval --device cuda "$softmax" "$softmax/ok-fast.cu"
fi
printf '%s passed, %s failed\n' "$passed" "$failed"
[[ $failed == 0 ]]
