# Sourced by tests that drive the real binary: counts in `passed` and `failed`.
passed=0 failed=0

# check NAME EXIT_CODE PATTERN COMMAND…: the exit code, and a line of the output that matches
check() {
  local name=$1 code=$2 pattern=$3 output actual
  shift 3
  output=$("$@" 2>&1 </dev/null)
  actual=$?
  if [[ $actual == "$code" ]] && grep -qE -- "$pattern" <<<"$output"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED %s: exit code %s (expected %s), output:\n%s\n' "$name" "$actual" "$code" "$output"
  fi
}
