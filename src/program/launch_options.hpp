#pragma once

#include "program/directives.hpp"
#include "program/tensor_scope.hpp"

namespace cudal1 {

//! Reads a kernel's name at the cursor: an identifier, with namespaces and template arguments.
std::string read_kernel_name(TokenCursor& cursor);

//! Reads `: grid= block= shared= cluster= args=` up to the directive's end. Throws Rejection, also (launch_error)
//! for sizes beyond what any GPU takes.
void read_launch_options(TokenCursor& cursor, const TensorScope& scope, LaunchDirective& launch);

}  // namespace cudal1
