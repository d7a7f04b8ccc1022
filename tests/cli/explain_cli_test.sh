#!/usr/bin/env bash
# Drives `explain` on the virtual GPU. Usage: explain_cli_test.sh BINARY SOURCE_FOLDER
set -uo pipefail
cudal1=$1 source=$2
compgen -G '/usr/bin/clang-[0-9]*' >/dev/null || { echo 'SKIP: no clang in /usr/bin'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CUDAL1_CACHE_DIR=$work/cache CUDAL1_DATA_DIR=$work/data
task=$source/examples/bias_gelu
failed=0

# expect NAME FILE PATTERN: a line of the file matches
expect() {
  grep -qE -- "$3" "$2" && return
  printf 'FAILED %s: no line like %s in\n%s\n' "$1" "$3" "$(cat "$2")"
  failed=1
}

printf '//! fuse add_1 gelu_1\n//! graph\n' >"$work/two.cu"
"$cudal1" explain --device vgpu --mode fast --plot "$work/two.svg" "$task" "$work/two.cu" >"$work/two.txt" 2>&1 ||
  { echo "FAILED explain: $(cat "$work/two.txt")"; failed=1; }
expect 'heading' "$work/two.txt" '^bias_gelu on virtual .*: [0-9.]+x predicted over PyTorch'
expect 'a part that helps' "$work/two.txt" ' helps +fuse add_1 gelu_1$'
expect 'the other part' "$work/two.txt" ' graph$'
expect 'the product of both' "$work/two.txt" '^the gains of the parts alone multiply to [0-9.]+x: together they give '
expect 'the plot' "$work/two.svg" '^<svg xmlns='
expect 'a bar of the part' "$work/two.svg" 'fuse add_1 gelu_1'
expect 'the end of the plot' "$work/two.svg" '^</svg>$'

# A kernel that uses what another computes cannot stand alone.
cat >"$work/needs.cu" <<'END'
//! kernel add_bias replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, bias, add_1, i32:numel(x))
//! kernel both replaces add_1 gelu_1 : grid=1 block=32 args=(x)
__global__ void add_bias(const float* x, const float* bias, float* y, int count) {}
__global__ void both(const float* x) {}
END
"$cudal1" explain --device vgpu --mode fast "$task" "$work/needs.cu" >"$work/needs.txt" 2>&1 &&
  { echo 'FAILED: a wrong program was explained'; failed=1; }
expect 'a wrong program' "$work/needs.txt" 'needs.cu:2:[0-9]+: plan_error: '

"$cudal1" explain --device vgpu --mode fast "$task" "$task/ok-empty.cu" >"$work/empty.txt" 2>&1
expect 'nothing to explain' "$work/empty.txt" '^the program has no directives'
"$cudal1" explain --plot "$work/no/such/folder.svg" "$task" "$work/two.cu" >"$work/folder.txt" 2>&1
[[ $? == 2 ]] || { echo 'FAILED: exit code for a folder that is not there'; failed=1; }
expect 'no such folder' "$work/folder.txt" '^cudal1: --plot .*there is no folder'
exit "$failed"
