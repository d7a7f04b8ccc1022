# Configures and builds one CMake preset; sourced after common.sh and setup.sh.

# build_preset PRESET [TARGET…]: ends with one line and the log's path when the build fails.
build_preset() {
  local preset=$1 log="$setup_dir/build-$1.log" targets=()
  shift
  [[ $# -eq 0 ]] || targets=(--target "$@")
  use_ccache_if_writable
  # A failed build lets the next use look again for what is missing.
  configure_preset "$preset" && run_logged "$log" "the build ($preset)" \
    cmake --build "$root/build/$preset" -j "$(build_jobs)" "${targets[@]}" && return
  rm -f "$setup_dir/ready"
  exit 1
}

configure_preset() {
  local preset=$1 fresh=() cache="$root/build/$1/CMakeCache.txt"
  # A tree that was moved or copied here still names its old place.
  [[ -f $cache ]] && ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" && fresh=(--fresh)
  (cd "$root" && run_logged "$setup_dir/configure-$preset.log" "cmake --preset $preset" \
    cmake --preset "$preset" "${fresh[@]}")
}

# Someone else's cache (a first build under sudo, say) would make every compile fail.
use_ccache_if_writable() {
  local cache
  cache=$(ccache --get-config cache_dir 2>/dev/null) || return 0
  [[ ! -e $cache || -w $cache ]] || export CCACHE_DISABLE=1
}
