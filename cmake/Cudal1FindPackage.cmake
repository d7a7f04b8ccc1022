# cudal1_find_package(NAME TARGET target HEADER header [LIBRARY name] [DEFINE macro…] [LINK library…])
# Makes sure that TARGET exists: from NAME's CMake config, else from the header and the library. DEFINE and LINK are what
# users of the plain header or the static library need.
function(cudal1_find_package name)
  cmake_parse_arguments(ARG "" "TARGET;HEADER;LIBRARY" "DEFINE;LINK" ${ARGN})
  find_package(${name} CONFIG QUIET GLOBAL)
  if(TARGET ${ARG_TARGET})
    return()
  endif()

  string(MAKE_C_IDENTIFIER "CUDAL1_${ARG_TARGET}" prefix)
  find_path(${prefix}_INCLUDE ${ARG_HEADER})
  if(ARG_LIBRARY)
    find_library(${prefix}_LIBRARY NAMES ${ARG_LIBRARY} lib${ARG_LIBRARY}.a)
  endif()
  if(NOT ${prefix}_INCLUDE OR (ARG_LIBRARY AND NOT ${prefix}_LIBRARY))
    message(FATAL_ERROR "${name} is missing (<${ARG_HEADER}> ${ARG_LIBRARY}): ./cudal1 and ./test install it, or say how")
  endif()

  add_library(${ARG_TARGET} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${ARG_TARGET} SYSTEM INTERFACE "${${prefix}_INCLUDE}")
  target_compile_definitions(${ARG_TARGET} INTERFACE ${ARG_DEFINE})
  target_link_libraries(${ARG_TARGET} INTERFACE ${${prefix}_LIBRARY} ${ARG_LINK})
endfunction()
