#pragma once

#include <string>
#include <string_view>

#include "program/plan.hpp"

namespace cudal1 {

//! SHA-256 of what will run: equal for texts that differ in comments, white space or buffer names only.
std::string plan_hash(const Plan& plan);

//! The code as its tokens, one space between them, comments and directive lines left out. Where a macro or __LINE__
//! could see the difference, the text as it is.
std::string canonical_code(std::string_view code);

}  // namespace cudal1
