#pragma once

#include <cstddef>
#include <string>

#include "compile/compile_protocol.hpp"

namespace cudal1 {

//! NVRTC, opened at run time. Its few functions are declared here rather than taken from nvrtc.h, which machines
//! without a toolkit do not have. Lives in the compiler process only: hostile source can hang or crash NVRTC.
class NvrtcLibrary {
 public:
  explicit NvrtcLibrary(const std::string& path);  //!< throws Error
  CompileAnswer compile(const CompileQuestion& question) const;

 private:
  using ProgramHandle = void*;
  CompileAnswer collect(ProgramHandle program, int result, const CompileQuestion& question) const;
  std::string log_of(ProgramHandle program) const;

  int (*create_program_)(ProgramHandle*, const char*, const char*, int, const char* const*, const char* const*);
  int (*destroy_program_)(ProgramHandle*);
  int (*add_name_expression_)(ProgramHandle, const char*);
  int (*compile_program_)(ProgramHandle, int, const char* const*);
  int (*get_log_size_)(ProgramHandle, std::size_t*);
  int (*get_log_)(ProgramHandle, char*);
  int (*get_cubin_size_)(ProgramHandle, std::size_t*);
  int (*get_cubin_)(ProgramHandle, char*);
  int (*get_ptx_size_)(ProgramHandle, std::size_t*);
  int (*get_ptx_)(ProgramHandle, char*);
  int (*get_lowered_name_)(ProgramHandle, const char*, const char**);
};

}  // namespace cudal1
