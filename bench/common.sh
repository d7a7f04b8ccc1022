# Sourced by the scripts of this folder: goes to the project's root and says what is measured.
given_from=$PWD
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
commit=${CUDAL1_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}

usage() { echo "$1: see the beginning of bench/$(basename "$0")" >&2; exit 2; }
there() { (cd "$given_from" && realpath -e -- "$1") || exit 2; }  # as it is called where the command was given

build_release() {  # build_release BENCHMARKS|TESTS TARGET: after all set-up, into build/release/bin, beside cudal1 itself
  ./cudal1 --version >/dev/null
  cmake -B build/release "-DCUDAL1_BUILD_$1=ON" . >/dev/null
  cmake --build build/release --target "$2" >/dev/null
}

set_up() (  # what builds need, and build/release configured; nothing is built
  set +e    # these scripts are written without
  root=$PWD
  source scripts/common.sh && source scripts/setup.sh && source scripts/build.sh || exit
  lock_setup
  ensure_setup
  [[ -f build/release/CMakeCache.txt ]] || configure_preset release
)

build_alone() {  # build_alone BENCHMARKS|TESTS TARGET…: what these need and no more, for programs that start no others
  set_up
  cmake -B build/release "-DCUDAL1_BUILD_$1=ON" . >/dev/null
  cmake --build build/release --target "${@:2}" >/dev/null
}
