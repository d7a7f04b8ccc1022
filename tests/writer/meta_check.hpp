// Whether what rewrites say of the tensors they add is what ATen makes.
#pragma once

#include "technique_harness.hpp"

namespace cudal1::testing {

//! For each value of the rewritten graph whose dtype, sizes, strides or view ATen sees otherwise, a line; or why the
//! program is refused.
std::vector<std::string> wrong_metas(const TaskText& task, const std::string& program);

}  // namespace cudal1::testing
