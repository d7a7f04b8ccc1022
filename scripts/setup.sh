# Finds or installs what the build needs; sourced after common.sh. Call ensure_setup with the lock held.
# Things are looked for by feature (a command, a header), not by package, so that it does not matter how they came.

torch_pin='torch==2.13.0'       # exact: a looser one fetches gigabytes of newer CUDA packages
cuda_packages=(nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl)
cuda_headers=(cuda.h cuda_fp16.h cuda_bf16.h mma.h cooperative_groups.h crt/host_defines.h)
bridge_packages=(einops numpy pytest safetensors)  # what modules often import, and what tests the bridge
comfort_packages=(ccache bubblewrap clang)  # installed along with others, never missed (but for clang: see below)

# header -> Debian package; the build needs each of them
header_packages=(
  gtest/gtest.h=libgtest-dev
  benchmark/benchmark.h=libbenchmark-dev
  CLI/CLI.hpp=libcli11-dev
  nlohmann/json.hpp=nlohmann-json3-dev
  spdlog/spdlog.h=libspdlog-dev
  fmt/format.h=libfmt-dev
  sqlite3.h=libsqlite3-dev
  seccomp.h=libseccomp-dev
  pcre2.h=libpcre2-dev
  utf8proc.h=libutf8proc-dev
  curl/curl.h=libcurl4-openssl-dev
  httplib.h=libcpp-httplib-dev
)

# Set-up is done once; again only when these scripts change or what it found is gone.
setup_is_current() {
  [[ -f $setup_dir/ready && -f $setup_dir/environment.sh ]] || return 1
  [[ ! $root/scripts/setup.sh -nt $setup_dir/ready ]] || return 1
  # shellcheck source=/dev/null
  source "$setup_dir/environment.sh"
  [[ -e $CUDAL1_TORCH_DIR/lib/libtorch.so && -e $CUDAL1_BUILD_CUDA_INCLUDE/cuda.h && -e ${CUDAL1_BUILD_NVRTC:-} ]]
}

ensure_setup() {
  [[ -d $deps_dir/bin ]] && PATH="$PATH:$deps_dir/bin"
  setup_is_current && return
  rm -f "$setup_dir/ready"
  find_torch
  find_cuda
  install_missing_packages
  check_tool_versions
  [[ -n $torch_dir ]] || install_torch
  cuda_is_complete || install_cuda
  [[ $torch_python != "$venv_dir"/* ]] || install_bridge_packages
  write_paths
}

# --- PyTorch -----------------------------------------------------------------------------------------------------

# Prints the folder of an importable torch that is new enough and has its C++ headers.
torch_of() {
  "$1" -c '
import os, re, sys, torch
folder = os.path.dirname(os.path.abspath(torch.__file__))
version = tuple(int(n) for n in re.match(r"(\d+)\.(\d+)", torch.__version__).groups())
if version < (2, 10) or not os.path.isdir(os.path.join(folder, "include", "ATen")):
    sys.exit(1)
print(folder)' 2>/dev/null </dev/null 9>&-
}

find_torch() {
  local python
  torch_dir='' torch_python=''
  for python in "${CUDAL1_PYTHON:-}" "$venv_dir/bin/python" "$(type -P python3)"; do
    [[ -n $python && -x $python ]] || continue
    torch_dir=$(torch_of "$python") && torch_python=$python && return
    torch_dir=''
  done
}

make_venv() {
  [[ -x $venv_dir/bin/pip ]] && return
  run_logged "$setup_dir/venv.log" "making .venv with python3 -m venv" python3 -m venv "$venv_dir" ||
    die "without it PyTorch cannot be installed; a python3 with an importable torch >= 2.10 on the PATH also does"
}

pip_install() {  # pip_install LOG ARGUMENT…
  local log="$setup_dir/pip-$1.log"
  shift
  run_logged "$log" "pip install $*" "$venv_dir/bin/pip" install --quiet --retries 2 "$@"
}

install_torch() {
  make_venv
  say "installing $torch_pin into .venv"
  pip_install torch "$torch_pin" ||
    die "no network? A python3 with an importable torch >= 2.10 on the PATH also does"
  find_torch
  [[ -n $torch_dir ]] || die "the torch in .venv cannot be imported: .venv/bin/python -c 'import torch' says why"
}

# Only into our own .venv: another environment is its owner's. Tasks can be made without them.
install_bridge_packages() {
  "$torch_python" -c 'import einops, numpy, pytest, safetensors' 2>/dev/null </dev/null 9>&- && return
  pip_install bridge "${bridge_packages[@]}" || say "going on without ${bridge_packages[*]}"
}

# --- NVRTC and CUDA headers: beside torch, from a toolkit, or from PyPI -----------------------------------------------

has_cuda_headers() {
  local header
  for header in "${cuda_headers[@]}"; do
    [[ -e $1/$header ]] || return 1
  done
  [[ -e $1/nv/target || -e $1/cccl/nv/target ]]
}

first_existing() {
  local path
  for path in "$@"; do
    [[ -e $path ]] && echo "$path" && return
  done
  return 1
}

find_cuda() {
  local folder packages=()
  cuda_include='' nvrtc_library='' cuda_is_ours=''
  [[ -n $torch_dir ]] && packages+=("${torch_dir%/*}")
  for folder in ${CUDAL1_CUDA_INCLUDE:+"${CUDAL1_CUDA_INCLUDE%%:*}"} "${packages[@]/%//nvidia/cu13/include}" \
    ${CUDA_HOME:+"$CUDA_HOME/include"} /usr/local/cuda/include /usr/local/cuda-*/include; do
    has_cuda_headers "$folder" && cuda_include=$folder && break
  done
  nvrtc_library=$(first_existing ${CUDAL1_NVRTC:+"$CUDAL1_NVRTC"} \
    "${packages[@]/%//nvidia/cu13/lib/libnvrtc.so.13}" "${packages[@]/%//nvidia/cuda_nvrtc/lib/libnvrtc.so.12}" \
    /usr/local/cuda*/lib64/libnvrtc.so.1[0-9] /usr/local/cuda*/targets/*/lib/libnvrtc.so.1[0-9] ||
    ldconfig -p 2>/dev/null | sed -n 's/.*libnvrtc\.so\.1[0-9] .*=> //p' | head -n 1)
  cuda_is_complete || find_cuda_in_venv
}

# Both are there, and of one major version: NVRTC 13 cannot read the headers of CUDA 12.
cuda_is_complete() {
  [[ -n $cuda_include && -n $nvrtc_library ]] || return 1
  grep -qE "^#define CUDA_VERSION ${nvrtc_library##*.so.}[0-9]{3}\\b" "$cuda_include/cuda.h"
}

find_cuda_in_venv() {
  local folder
  for folder in "$venv_dir"/lib/python3*/site-packages/nvidia/cu13; do
    [[ -e $folder/lib/libnvrtc.so.13 ]] && has_cuda_headers "$folder/include" || continue
    cuda_include=$folder/include nvrtc_library=$folder/lib/libnvrtc.so.13 cuda_is_ours=yes
  done
}

# The release of the NVRTC that .venv already has (torch may have brought it), else 13.0: headers must be of the same.
cuda_release_in_venv() {
  local installed
  installed=$(first_existing "$venv_dir"/lib/python3*/site-packages/nvidia_cuda_nvrtc-13.*.dist-info)
  installed=${installed##*nvrtc-}
  cut -d. -f1,2 <<<"${installed:-13.0}"
}

install_cuda() {
  local release pins
  find_cuda  # the torch that was just installed may have brought them
  cuda_is_complete && return
  make_venv
  release=$(cuda_release_in_venv)
  pins=("${cuda_packages[@]/%/==$release.*}")
  say "installing NVRTC and CUDA headers $release into .venv"
  pip_install cuda --no-deps "${pins[@]}" ||
    die "no network? A CUDA toolkit in /usr/local/cuda also does"
  find_cuda
  cuda_is_complete || die "NVRTC or CUDA headers not found after installing them into .venv"
}

# --- Debian packages -----------------------------------------------------------------------------------------------

prefix_include_flags() {
  local prefixes prefix
  IFS=':;' read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}"
  for prefix in "$deps_dir" "${prefixes[@]}"; do
    printf -- '-I%s/include\n' "$prefix"
  done
}

# One preprocessor run tells which headers are missing; without a compiler, all that /usr/include lacks.
missing_header_packages() {
  local entry compiler include_flags
  compiler=$(type -P "${CXX:-g++}") || {
    for entry in "${header_packages[@]}"; do
      [[ -e /usr/include/${entry%=*} || -e $deps_dir/include/${entry%=*} ]] || echo "${entry#*=}"
    done
    return
  }
  mapfile -t include_flags < <(prefix_include_flags)
  for entry in "${header_packages[@]}"; do
    printf '#if !__has_include(<%s>)\nmissing %s\n#endif\n' "${entry%=*}" "${entry#*=}"
  done | "$compiler" "${include_flags[@]}" -std=c++20 -E -P -x c++ - 2>/dev/null | sed -n 's/^missing //p'
}

missing_packages() {
  type -P "${CXX:-g++}" >/dev/null || echo g++
  type -P cmake >/dev/null || echo cmake
  type -P ninja >/dev/null || echo ninja-build
  type -P python3 >/dev/null || echo python3
  missing_header_packages
  if [[ ! -x $venv_dir/bin/pip ]] && { [[ -z $torch_dir ]] || ! cuda_is_complete; }; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
  fi
}

install_missing_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} -eq 0 ]] || apt_install "${missing[@]}" "${comfort_packages[@]}"
  virtual_gpu_lacks_clang && may_install && (apt_install clang) || true
  packages_lack_python_headers && may_install && (apt_install python3-dev) || true
}

# Without a GPU nothing runs but on the virtual one, which needs clang (src/compile/clang_location.cpp looks there).
# With one, and where we may not install, it can be done without: doctor says so.
virtual_gpu_lacks_clang() {
  [[ -z ${CUDAL1_CLANG:-} && ! -e /dev/nvidiactl ]] || return 1
  ! compgen -G '/usr/bin/clang-[12][0-9]' >/dev/null && ! compgen -G '/usr/local/bin/clang-[12][0-9]' >/dev/null
}

# Exported packages have a native part, which is an extension of Python; all else can do without its headers. Those of
# another Python than Debian's are its own affair.
packages_lack_python_headers() {
  local headers
  headers=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)
  [[ $headers == /usr/include/* && ! -e $headers/Python.h ]]
}

may_install() { type -P apt-get >/dev/null && { [[ $EUID -eq 0 ]] || sudo -n true 2>/dev/null; }; }

# apt_install PACKAGE…: installs them where that is allowed, else says the one command to run and ends.
apt_install() {
  local as_root=()
  type -P apt-get >/dev/null || die "missing (names of Debian's packages): $*. Install them and run this again"
  if [[ $EUID -ne 0 ]]; then
    sudo -n true 2>/dev/null || die "some packages are missing. Run this, then try again:  $(apt_command "$@")"
    as_root=(sudo -n)
  fi
  say "installing Debian packages: $*"
  run_logged "$setup_dir/apt-update.log" "apt-get update" "${as_root[@]}" apt-get update -q || true  # old lists may do
  run_logged "$setup_dir/apt.log" "apt-get install" \
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@" ||
    die "no network? Run this, then try again:  $(apt_command "$@")"
  hash -r
}

apt_command() { echo "sudo sh -c 'apt-get update && apt-get install -y $*'"; }

check_tool_versions() {
  local cmake_version gcc_version
  cmake_version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
  printf '3.25\n%s\n' "$cmake_version" | sort -CV ||
    die "cmake $cmake_version is too old, 3.25 is needed:  pip install 'cmake>=3.25'  or a newer distribution"
  gcc_version=$("${CXX:-g++}" -dumpversion)
  [[ -n ${CXX:-} || ${gcc_version%%.*} -ge 12 ]] || die "g++ $gcc_version is too old, 12 is needed"
}

# --- what the build and the shell read -------------------------------------------------------------------------------

write_paths() {
  local lines=("CUDAL1_TORCH_DIR='$torch_dir'" "CUDAL1_BUILD_CUDA_INCLUDE='$cuda_include'" "CUDAL1_BUILD_NVRTC='$nvrtc_library'")
  lines+=("$(export_line CUDAL1_PYTHON "$torch_python")")
  # The program looks beside torch and in toolkits by itself; it must be told only of what we put elsewhere.
  if [[ -n $cuda_is_ours && $torch_dir != "$venv_dir"/* ]]; then
    lines+=("$(export_line CUDAL1_NVRTC "$nvrtc_library")" "$(export_line CUDAL1_CUDA_INCLUDE "$cuda_include")")
  fi
  [[ -d $deps_dir/bin ]] && lines+=("PATH=\"\$PATH:$deps_dir/bin\"")
  printf '%s\n' '# written by set-up' "${lines[@]}" >"$setup_dir/environment.sh"
  write_if_changed "$setup_dir/paths.cmake" <<PATHS
# written by set-up; read by cmake/Cudal1Dependencies.cmake where the command line says nothing else
set(CUDAL1_SETUP_TORCH_DIR "$torch_dir")
set(CUDAL1_SETUP_CUDA_INCLUDE "$cuda_include")
set(CUDAL1_SETUP_PYTHON "$torch_python")
PATHS
  touch "$setup_dir/ready"
}

# What the user has set wins.
export_line() { printf "export %s=\"\${%s:-%s}\"" "$1" "$1" "$2"; }

# A file that did not change keeps its time, so that nothing is configured again for it.
write_if_changed() {
  local text
  text=$(cat)
  [[ -f $1 && $(<"$1") == "$text" ]] || printf '%s\n' "$text" >"$1"
}
