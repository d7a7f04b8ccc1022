// What a program text needs before a host compiler can take it, and what it may not contain.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cudal1 {

//! The same text, byte for byte as long, with comments and string contents blanked.
std::string without_comments(std::string_view text);

//! Writable device globals, static variables of device functions, device malloc, headers that are not offered.
//! A scan of words, good enough for tests: a real device looks at the binary.
std::optional<Failure> find_forbidden(std::string_view text);

//! `extern __shared__ T name[];` becomes a pointer to the dynamic area and `static __shared__` loses its `static`.
//! Lines keep their numbers.
std::string rewrite_shared_memory(std::string_view text);

}  // namespace cudal1
