# How the folders declare what they build.

# cudal1_library(NAME SOURCES … LINK …): one static library per folder of src.
function(cudal1_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC cudal1_options ${ARG_LINK})
endfunction()

# cudal1_test(NAME LABELS cpu|gpu|slow… SOURCES … LINK … [TIMEOUT seconds] [NO_SANITIZE]): one GoogleTest program, one
# CTest entry per program. A program that links LibTorch gets the label torch. NO_SANITIZE keeps a test out of sanitized
# builds, where limits on memory or system calls cannot hold; those that link LibTorch stay out anyway.
function(cudal1_test name)
  cmake_parse_arguments(ARG "NO_SANITIZE" "TIMEOUT" "LABELS;SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE cudal1_options ${ARG_LINK} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE CUDAL1_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  cudal1_links_torch(${name} links_torch)
  if(links_torch)
    list(APPEND ARG_LABELS torch)
  endif()
  if(CUDAL1_SANITIZE AND (links_torch OR ARG_NO_SANITIZE))
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${name})
  cudal1_test_properties(${name} "${ARG_LABELS}" "${ARG_TIMEOUT}")
  set_property(GLOBAL APPEND PROPERTY CUDAL1_TEST_PROGRAMS ${name})
endfunction()

function(cudal1_test_properties name labels timeout_seconds)
  if(NOT timeout_seconds)
    set(timeout_seconds 300)
  endif()
  # Skipped is a program that passed no case and failed none; one that skipped some of its cases has passed or failed.
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout_seconds}
    COST ${timeout_seconds}  # who may take long starts first, so that nobody waits for it in the end
    ENVIRONMENT "GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/test_results/${name}.xml"
    SKIP_REGULAR_EXPRESSION "\\[  PASSED  \\] 0 tests?\\.\n(\\[  SKIPPED \\] [^\n]*\n)+$")
  if("gpu" IN_LIST labels)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK gpu)  # one GPU, and timings that must not disturb each other
  endif()
endfunction()

# cudal1_pytest(NAME LABELS … FOLDER where TESTS files or folders there…): one CTest entry, skipped where Python lacks what
# the tests need.
function(cudal1_pytest name)
  cmake_parse_arguments(ARG "" "FOLDER" "LABELS;TESTS" ${ARGN})
  add_test(NAME ${name} COMMAND "${PROJECT_SOURCE_DIR}/tests/support/run_pytest.sh" "${CUDAL1_PYTHON}" "${ARG_FOLDER}"
    "${PROJECT_BINARY_DIR}/test_results/${name}.xml" ${ARG_TESTS})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300 COST 300 SKIP_RETURN_CODE 77)
endfunction()

# cudal1_fuzzer(NAME SOURCES … LINK …): a libFuzzer program, in builds with CUDAL1_BUILD_FUZZERS; elsewhere nothing.
function(cudal1_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(NOT CUDAL1_BUILD_FUZZERS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE cudal1_options ${ARG_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzzers")
  set_property(GLOBAL APPEND PROPERTY CUDAL1_FUZZERS ${name})
endfunction()

# Whether a target reaches cudal1_torch through the libraries it links.
function(cudal1_links_torch target result)
  get_property(waiting TARGET ${target} PROPERTY LINK_LIBRARIES)
  set(seen "")
  while(waiting)
    list(POP_FRONT waiting library)
    if(library IN_LIST seen OR NOT TARGET ${library})
      continue()
    endif()
    list(APPEND seen ${library})
    get_property(further TARGET ${library} PROPERTY INTERFACE_LINK_LIBRARIES)
    list(TRANSFORM further REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1")
    list(APPEND waiting ${further})
  endwhile()
  if(cudal1_torch IN_LIST seen)
    set(${result} ON PARENT_SCOPE)
  else()
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

# Leaves those that include LibTorch or Python neither themselves nor through other headers of src.
function(cudal1_remove_headers_with_torch list_name)
  set(light ${${list_name}})
  set(pattern "#include <((ATen|torch|c10)/|Python.h)")
  while(pattern)
    set(found "")
    foreach(name IN LISTS light)
      file(STRINGS "${PROJECT_SOURCE_DIR}/src/${name}" lines REGEX "${pattern}")
      if(lines)
        list(APPEND found "${name}")
      endif()
    endforeach()
    list(REMOVE_ITEM light ${found})
    list(JOIN found "|" pattern)  # next round: who includes these
    if(pattern)
      set(pattern "#include \"(${pattern})\"")
    endif()
  endwhile()
  set(${list_name} ${light} PARENT_SCOPE)
endfunction()

# Each header of src compiles alone; those with LibTorch in them are left out, they cost 13 s each, and those with Python.
function(cudal1_check_headers)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/src/*.hpp")
  cudal1_remove_headers_with_torch(headers)
  set(sources "")
  foreach(name IN LISTS headers)
    set(source "${PROJECT_BINARY_DIR}/header_check/${name}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${name}\"\n#include \"${name}\"\n")
    list(APPEND sources "${source}")
  endforeach()
  add_library(cudal1_header_check OBJECT ${sources})
  target_compile_options(cudal1_header_check PRIVATE -O0)
  target_compile_definitions(cudal1_header_check PRIVATE CUDAL1_VERSION="${PROJECT_VERSION}")
  target_link_libraries(cudal1_header_check PRIVATE cudal1_options cudal1_seccomp cudal1_cuda_headers fmt::fmt
    nlohmann_json::nlohmann_json spdlog::spdlog CLI11::CLI11 SQLite::SQLite3 cudal1_pcre2 cudal1_utf8proc
    CURL::libcurl)
endfunction()

# Targets made of what the folders declared; called when all of them have been read.
function(cudal1_finish_targets)
  get_property(test_programs GLOBAL PROPERTY CUDAL1_TEST_PROGRAMS)
  get_property(fuzzers GLOBAL PROPERTY CUDAL1_FUZZERS)
  add_custom_target(cudal1_sanitized_tests DEPENDS ${test_programs})
  add_custom_target(cudal1_fuzzers DEPENDS ${fuzzers})
  list(FILTER test_programs INCLUDE REGEX "^vgpu_")
  add_custom_target(cudal1_vgpu_tests DEPENDS ${test_programs})
  if(CUDAL1_BUILD_TESTS AND NOT CUDAL1_SANITIZE)
    cudal1_check_headers()
  endif()
endfunction()
cmake_language(DEFER DIRECTORY "${PROJECT_SOURCE_DIR}" CALL cudal1_finish_targets)
