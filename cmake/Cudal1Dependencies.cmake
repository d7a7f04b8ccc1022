# Packages, LibTorch and CUDA headers. Each package is taken from its CMake config where it has one, else from its
# headers and libraries, under the same target name: images and hand-made prefixes often lack the config files.
include(Cudal1FindPackage)
include("${PROJECT_SOURCE_DIR}/.setup/paths.cmake" OPTIONAL)  # what set-up found on this machine
if(NOT CUDAL1_PYTHON)
  set(CUDAL1_PYTHON "${CUDAL1_SETUP_PYTHON}")
endif()
if(NOT CUDAL1_PYTHON)
  set(CUDAL1_PYTHON python3)
endif()

# A prefix with include/ and lib/ may be laid here by hand on machines without a package registry.
if(EXISTS "${PROJECT_SOURCE_DIR}/.deps")
  list(APPEND CMAKE_PREFIX_PATH "${PROJECT_SOURCE_DIR}/.deps")
endif()

find_package(Threads REQUIRED)
cudal1_find_package(nlohmann_json TARGET nlohmann_json::nlohmann_json HEADER nlohmann/json.hpp)
cudal1_find_package(CLI11 TARGET CLI11::CLI11 HEADER CLI/CLI.hpp)
cudal1_find_package(fmt TARGET fmt::fmt HEADER fmt/format.h DEFINE FMT_HEADER_ONLY)
cudal1_find_package(spdlog TARGET spdlog::spdlog HEADER spdlog/spdlog.h LINK fmt::fmt DEFINE SPDLOG_FMT_EXTERNAL)
cudal1_find_package(SQLite TARGET SQLite::SQLite3 HEADER sqlite3.h LIBRARY sqlite3 LINK Threads::Threads ${CMAKE_DL_LIBS} m)
cudal1_find_package(seccomp TARGET cudal1_seccomp HEADER seccomp.h LIBRARY seccomp)
cudal1_find_package(PCRE2 TARGET cudal1_pcre2 HEADER pcre2.h LIBRARY pcre2-8 DEFINE PCRE2_CODE_UNIT_WIDTH=8)
cudal1_find_package(utf8proc TARGET cudal1_utf8proc HEADER utf8proc.h LIBRARY utf8proc)
cudal1_find_package(CURL TARGET CURL::libcurl HEADER curl/curl.h LIBRARY curl)
if(CUDAL1_BUILD_TESTS)
  cudal1_find_package(GTest TARGET GTest::gtest HEADER gtest/gtest.h LIBRARY gtest LINK Threads::Threads)
  cudal1_find_package(GTest TARGET GTest::gtest_main HEADER gtest/gtest.h LIBRARY gtest_main LINK GTest::gtest)
  find_library(CUDAL1_HTTPLIB_LIBRARY cpp-httplib)  # Debian splits the header; a plain one needs no library
  if(CUDAL1_HTTPLIB_LIBRARY)
    # What Debian's is compiled with: it changes the layout of its classes.
    cudal1_find_package(httplib TARGET httplib::httplib HEADER httplib.h LIBRARY cpp-httplib LINK ssl crypto Threads::Threads
      DEFINE CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_BROTLI_SUPPORT)
  else()
    cudal1_find_package(httplib TARGET httplib::httplib HEADER httplib.h LINK Threads::Threads)
  endif()
endif()
if(CUDAL1_BUILD_BENCHMARKS)
  cudal1_find_package(benchmark TARGET benchmark::benchmark HEADER benchmark/benchmark.h LIBRARY benchmark LINK Threads::Threads)
endif()

# LibTorch carries its own {fmt}; ours must be found first, or headers and library would be of two versions.
get_target_property(fmt_folders fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
find_path(CUDAL1_FMT_INCLUDE fmt/format.h PATHS ${fmt_folders} NO_DEFAULT_PATH REQUIRED)
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/headers")
file(CREATE_LINK "${CUDAL1_FMT_INCLUDE}/fmt" "${PROJECT_BINARY_DIR}/headers/fmt" SYMBOLIC)
target_include_directories(cudal1_options SYSTEM INTERFACE "${PROJECT_BINARY_DIR}/headers")

# The CUDA driver and NVRTC are opened at run time; only headers are needed, from a toolkit or from PyPI.
if(NOT EXISTS "${CUDAL1_CUDA_INCLUDE}/cuda.h")
  unset(CUDAL1_CUDA_INCLUDE CACHE)  # a toolkit that was removed since
endif()
find_path(CUDAL1_CUDA_INCLUDE cuda.h
  HINTS ${CUDAL1_SETUP_CUDA_INCLUDE} ${CUDAL1_CUDA_INCLUDE_HINT} /usr/local/cuda/include REQUIRED)
add_library(cudal1_cuda_headers INTERFACE)
target_include_directories(cudal1_cuda_headers SYSTEM INTERFACE "${CUDAL1_CUDA_INCLUDE}")

# LibTorch comes from the Python package; CUDAL1_TORCH_DIR is its folder (…/site-packages/torch).
if(NOT CUDAL1_TORCH_DIR)
  set(CUDAL1_TORCH_DIR "${CUDAL1_SETUP_TORCH_DIR}")
endif()
if(NOT EXISTS "${CUDAL1_TORCH_DIR}/include/ATen")
  message(FATAL_ERROR "CUDAL1_TORCH_DIR is '${CUDAL1_TORCH_DIR}', not a torch package: run ./cudal1 or ./test once, they find or install one")
endif()
# Not TorchConfig.cmake: it demands a whole CUDA toolkit where torch has CUDA.
add_library(cudal1_torch INTERFACE)
target_include_directories(cudal1_torch SYSTEM INTERFACE "${CUDAL1_TORCH_DIR}/include"
                           "${CUDAL1_TORCH_DIR}/include/torch/csrc/api/include")
target_link_directories(cudal1_torch INTERFACE "${CUDAL1_TORCH_DIR}/lib")
target_link_options(cudal1_torch INTERFACE "-Wl,-rpath,${CUDAL1_TORCH_DIR}/lib" "-Wl,--no-as-needed")
target_link_libraries(cudal1_torch INTERFACE torch torch_cpu c10)
if(EXISTS "${CUDAL1_TORCH_DIR}/lib/libtorch_cuda.so")
  set(CUDAL1_TORCH_HAS_CUDA ON)
  target_link_libraries(cudal1_torch INTERFACE torch_cuda c10_cuda)
  target_compile_definitions(cudal1_torch INTERFACE CUDAL1_TORCH_HAS_CUDA)
endif()
