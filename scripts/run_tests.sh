# Runs CTest or the fuzzers on a build; sourced by ./test after build.sh. Entered with the set-up lock held.

run_tests() {  # run_tests PRESET [CTEST ARGUMENT…]
  local preset=$1 build="$root/build/$1" results="$root/build/$1/test_results" targets=() status
  shift
  [[ $preset == asan ]] && targets=(cudal1_sanitized_tests)
  say "building ($preset)"
  build_preset "$preset" "${targets[@]}"
  unlock_setup
  rm -rf "$results"
  mkdir -p "$results"
  ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel 2 --output-junit "$results/ctest.xml" "$@"
  status=$?
  "$CUDAL1_PYTHON" "$root/scripts/test_summary.py" "$results" && return "$status"
}

fuzz() {  # fuzz SECONDS
  local seconds=$1 fuzzers fuzzer passed=0 failed=0
  find_fuzzing_clang
  say "building the fuzzers with $clang"
  CXX=$clang build_preset fuzz cudal1_fuzzers
  unlock_setup
  fuzzers=("$root"/build/fuzz/fuzzers/*)
  [[ -x ${fuzzers[0]} ]] || die "there is no fuzzer"
  for fuzzer in "${fuzzers[@]}"; do
    fuzz_one "$fuzzer" "$seconds" && passed=$((passed + 1)) || failed=$((failed + 1))
  done
  echo "$passed passed, $failed failed, 0 skipped"
  ((failed == 0))
}

find_clang() { clang=$(newest_of clang++); }

# libFuzzer is in a package of its own, named after clang's version.
find_fuzzing_clang() {
  find_clang
  [[ -n $clang ]] || { apt_install clang && find_clang; }
  links_libfuzzer && return
  apt_install "libclang-rt-$("$clang" -dumpversion | cut -d. -f1)-dev"
  links_libfuzzer || die "$clang cannot link -fsanitize=fuzzer"
}

links_libfuzzer() {
  "$clang" -fsanitize=fuzzer -x c++ - -o "$setup_dir/fuzzer-check" 2>/dev/null <<<'
    #include <cstddef>
    extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, std::size_t) { return 0; }'
}

# What a fuzzer finds stays in build/fuzz/corpus, so that the next run starts from there.
fuzz_one() {
  local fuzzer=$1 seconds=$2 corpus="$root/build/fuzz/corpus/${1##*/}"
  mkdir -p "$corpus"
  say "${fuzzer##*/}, $seconds s; an input that breaks it is left in $corpus"
  "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$corpus/broken-" "$corpus"
}

# Formatting is advice, never a failure: clang-format's versions differ in what they make of the same style.
note_formatting() {
  local formatter count
  formatter=$(newest_of clang-format)
  [[ -n $formatter ]] || { say "clang-format is not here: formatting not looked at"; return; }
  count=$(find "$root"/{src,tests,bench} -name '*.[ch]pp' -print0 2>/dev/null |
    xargs -0 -r "$formatter" --dry-run 2>&1 | sed -n 's/^\([^ :]*\):.*clang-format-violations.*/\1/p' | sort -u | wc -l)
  ((count == 0)) || say "note: ${formatter##*/} would format $count files differently; scripts/format does"
}
