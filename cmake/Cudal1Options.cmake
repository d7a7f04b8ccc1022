option(CUDAL1_BUILD_TESTS "Build the tests" ON)
option(CUDAL1_BUILD_BENCHMARKS "Build the benchmark programs" OFF)
option(CUDAL1_BUILD_FUZZERS "Build the libFuzzer targets (needs clang)" OFF)
option(CUDAL1_WARNINGS_AS_ERRORS "Warnings are errors" OFF)
option(CUDAL1_SANITIZE "Address and undefined-behaviour sanitizers" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # the op plug-in links the same libraries
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

find_program(CUDAL1_CCACHE ccache)
if(CUDAL1_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the source folder do not count, so that a fresh clone finds what another clone compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" "${CUDAL1_CCACHE}")
endif()

add_library(cudal1_options INTERFACE)
target_include_directories(cudal1_options INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/src")
target_compile_options(cudal1_options INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers)
if(CUDAL1_WARNINGS_AS_ERRORS)
  target_compile_options(cudal1_options INTERFACE -Werror)
endif()
if(CUDAL1_SANITIZE)
  target_compile_options(cudal1_options INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(cudal1_options INTERFACE -fsanitize=address,undefined)
  target_compile_definitions(cudal1_options INTERFACE CUDAL1_SANITIZED)  # limits on address space cannot hold then
endif()
if(CUDAL1_BUILD_FUZZERS)
  target_compile_options(cudal1_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

include(Cudal1Targets)
