// The form in which results of a compiler lie in its cache.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compile/compiler.hpp"

namespace cudal1 {

std::string encode_result(const Result<CompiledModule>& result);

//! Nothing when the bytes are not a result in this form; else one that says it comes from the cache.
std::optional<Result<CompiledModule>> decode_result(std::string_view bytes);

//! What the source says about itself; limits and our own failures are not part of that.
bool is_deterministic(const Result<CompiledModule>& result);

}  // namespace cudal1
