#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cudal1 {

//! What the exception under way in the judge's own process means for the program being judged: out_of_memory where it
//! says so, else judge_error. One line; the whole text is in the details. Only inside a catch block.
Failure failure_of_current_exception();

//! Of an exception's text: LibTorch appends a stack trace to it.
std::string first_line(std::string_view text);

}  // namespace cudal1
