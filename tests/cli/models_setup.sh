# Sourced by tests of commands that ask language models, with their arguments CUDAL1 PYTHON SOURCE MODEL_TOOL: an empty
# folder, caches of its own, and nobody's server or model.
set -uo pipefail
cudal1=$1 python=$2 source=$3 model_tool=$4
compgen -G '/usr/bin/clang-[12][0-9]' >/dev/null || [[ -n ${CUDAL1_CLANG:-} ]] || { echo 'skipped: no clang'; exit 77; }
export CUDAL1_PYTHON=$python CUDAL1_CACHE_DIR CUDAL1_DATA_DIR
unset OPENAI_BASE_URL OPENAI_API_KEY CUDAL1_MODEL
folder=$(mktemp -d)
trap 'kill "$(jobs -p)" 2>/dev/null; rm -rf "$folder"' EXIT
CUDAL1_CACHE_DIR=$folder/cache CUDAL1_DATA_DIR=$folder/data
cd "$folder" || exit 1
failed=0
fail() { echo "FAILED: $1"; failed=1; }
field() { "$python" -c 'import json, sys; print(eval("lambda d: " + sys.argv[2])(json.load(open(sys.argv[1]))))' "$1" "$2"; }
