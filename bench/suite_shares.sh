# Sourced by scripts that optimise a suite in shares, possibly on several days and machines: a share that is done is kept,
# and all that are there count together. Of the caller: suite, selection (array), records and kept (folders), commit, gpu.

without_place() { sed "s#$PWD/##g" "$1" >"$2"; }  # without_place FILE COPY: wherever this folder lies

share_name() { printf '%s' "${selection[*]:-all}" | tr -cs '[:alnum:]' _ | sed 's/^_//'; }

is_kept() { [[ -e $kept/$(share_name)/commit ]]; }  # the share that is selected

suite_part() {  # the options that choose the whole of what is shared out
  local i
  for ((i = 0; i < ${#selection[@]}; ++i)); do
    [[ ${selection[i]} != --suite ]] || printf '%s\n' --suite "${selection[i + 1]}"
  done
}

optimise_share() {  # optimise_share RUN… -- OPTION…: with what starts the command, such as `timeout 60 ./cudal1`
  local share run=()
  share=$records/$(share_name)
  while [[ $1 != -- ]]; do run+=("$1"); shift; done
  shift
  mkdir -p "$share"
  "${run[@]}" optimize "$suite" "${selection[@]}" --no-explain -o "$share" --archive "$share/archive.sqlite" --json "$@" \
    >"$share/optimize.new"
}

tasks_in() {  # tasks_in PROGRAM SELECTION…: how many
  "$1" tasks "$suite" "${@:2}" --json | "$CUDAL1_PYTHON" -c 'import json, sys; print(len(json.load(sys.stdin)["tasks"]))'
}

is_through() {  # is_through FILE TASKS: did the searches of all tasks come to their end? One that is interrupted reports as well
  [[ -s $1 ]] && "$CUDAL1_PYTHON" -c 'import json, sys
results = json.load(open(sys.argv[1]))["results"]
sys.exit(len(results) < int(sys.argv[2]) or any(result.get("stopped") for result in results))' "$@"
}

keep_share() {  # keep_share PROGRAM: only of a search that is through; what was cut off is not kept
  local name share
  name=$(share_name) share=$records/$name
  is_through "$share/optimize.new" "$(tasks_in "$1" "${selection[@]}")" ||
    { echo "not through; the same command goes on in $records" >&2; exit 3; }
  mkdir -p "$kept/$name"
  without_place "$share/optimize.new" "$kept/$name/optimize.json"
  without_place "$share/bench/results.jsonl" "$kept/$name/results.jsonl"
  "$CUDAL1_PYTHON" bench/writer/search_stages.py "$share/archive.sqlite" | tee "$kept/$name/stages.json"
  echo "$commit" >"$kept/$name/commit"
}

merge_shares() {  # merge_shares PROGRAM COMMAND TABLE: TABLE.txt and TABLE.csv of all shares; shares and tasks are set
  local whole
  mapfile -t whole < <(suite_part)
  shares=("$kept"/*/optimize.json)
  "$1" bench --merge "${shares[@]%/optimize.json}" -o "$records/merged" >"$records/table"
  cat "$records/table"
  tasks=$(tasks_in "$1" "${whole[@]}")
  without_place "$records/table" "$records/table.txt"
  { printf '%s suite %s, commit %s, %s\n' "$2" "$(basename "$suite") ${whole[*]}" "$commit" "${gpu:-none}"
    cat "$records/table.txt"; } >"$3.txt"
  cp "$records/merged/results.csv" "$3.csv"
}
