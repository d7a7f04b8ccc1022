# Sourced by the scripts of this folder: goes to the project's root and says what is measured.
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
commit=${CUDAL1_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}

build_release() {  # build_release BENCHMARKS|TESTS TARGET: after all set-up, into build/release/bin
  ./cudal1 --version >/dev/null
  cmake -B build/release "-DCUDAL1_BUILD_$1=ON" . >/dev/null
  cmake --build build/release --target "$2" >/dev/null
}
