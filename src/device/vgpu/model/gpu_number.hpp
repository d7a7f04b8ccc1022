// Numbers in the files of gpus/: {"value": 132, "why": "where it comes from"}.
#pragma once

#include "graph/json_place.hpp"

namespace cudal1::vgpu {

//! Throws Error with the place where the number is no positive one, or nothing says where it comes from.
double number_with_reason(const JsonPlace& place);

//! The document is an object of this format and version. Throws Error.
void expect_format(const JsonPlace& root, const std::string& format, std::int64_t version);

}  // namespace cudal1::vgpu
