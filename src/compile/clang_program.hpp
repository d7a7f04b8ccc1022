// A program as clang gets it, and what clang's PTX says about its kernels.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler_log.hpp"

namespace cudal1 {

//! The source, and behind it one variable for each kernel that holds its address: clang instantiates templates for it
//! and its initialiser names the entry. Lines of the source keep their numbers.
std::string clang_source(std::string_view source, const std::vector<std::string>& kernels);

//! Whether this can stand in such a variable's initialiser without ending it.
bool is_kernel_name(std::string_view kernel);

//! Takes the variables out of the PTX: kernel as written -> entry. Kernels that are no entries are left out.
std::map<std::string, std::string> take_kernel_symbols(std::string& ptx, const std::vector<std::string>& kernels);

//! clang keeps the sizes of variables in 32 bits. It leaves out one that is zero there, as if an array of 2^32 bytes,
//! or a multiple, were a single byte (which it calls .u8, not .b8): gives such arrays 2^32 bytes.
void restore_lost_sizes(std::string& ptx);

//! Of `(x >> 63) & 7` with a signed x of 64 bits clang 14 makes `bfe.u64 …, 63, 3`, which has zeros where copies of the
//! sign are shifted in (it takes the shift's 32 bits for the width of x): makes a shift and a mask of it. What inline
//! assembly says stays.
void restore_shifted_signs(std::string& ptx);

//! The first error of clang's log. Errors in our headers get the place in the program that led to them; errors of the
//! variables above are about a kernel's name.
CompilerDiagnosis first_clang_error(std::string_view log, const std::vector<std::string>& kernels);

//! Why this PTX may not run: memory that outlives a call and could be written, or calls out of the program.
std::optional<std::string> forbidden_ptx(std::string_view ptx, bool debug = false);

}  // namespace cudal1
