# Shared by ./cudal1, ./test and the other scripts here: paths, messages, the set-up lock. Sourced, never run.
# Everything said here goes to standard error, so that standard output stays what the command prints.

setup_dir="$root/.setup"        # what set-up found: paths.cmake for CMake, environment.sh for the shell, logs
deps_dir="$root/.deps"          # optional prefix with include/ lib/ bin/, for machines without a package registry
venv_dir="$root/.venv"
say() { printf 'cudal1: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# Runs a command with its output in a log; on failure says what failed, shows the first lines that tell why, and ends.
run_logged() {  # run_logged LOG WHAT COMMAND…
  local log=$1 what=$2
  shift 2
  "$@" >"$log" 2>&1 </dev/null 9>&- && return 0
  say "$what failed; the whole log: $log"
  grep -m 5 -E '(error:|ERROR|CMake Error|^E: )' "$log" | cut -c1-300 >&2
  return 1
}

# One set-up or build at a time; others wait. Descriptor 9 holds the lock until unlock_setup or the end.
lock_setup() {
  mkdir -p "$setup_dir" 2>/dev/null || die "cannot write to $root: set-up keeps its files there"
  { exec 9>"$setup_dir/lock"; } 2>/dev/null || die "cannot write to $setup_dir"
  flock -n 9 && return
  say "waiting for another set-up or build to finish"
  flock 9
}
unlock_setup() { exec 9>&-; }

# Builds use about 1.5 GB for a file that includes LibTorch.
build_jobs() {
  local cores memory_gb jobs
  cores=$(nproc)
  memory_gb=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  jobs=$((memory_gb / 2))
  ((jobs > cores)) && jobs=$cores
  ((jobs < 1)) && jobs=1
  echo "$jobs"
}

# The plain name of a tool of LLVM's, else the newest that carries its version in its name.
newest_of() { type -P "$1" || compgen -c "$1-" | grep -xE "${1//+/\\+}-[0-9]+" | sort -V | tail -n 1; }
