#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

//! Why a cubin may not run: it holds memory that outlives a call and that its code could write (device globals,
//! function statics), or calls the device runtime (malloc, printf, assert). Nothing when it may.
//! The PTX it was assembled from shows which of its variables are only ever read (tables); without PTX all count as
//! writable. The bytes may be anything: a file that is not a well-formed cubin is refused as well.
std::optional<std::string> forbidden_content(std::string_view cubin, std::string_view ptx = {});

//! The names of the variables that a cubin keeps in device or constant memory. Throws Error where it is not a
//! well-formed cubin.
std::vector<std::string> module_variables(std::string_view cubin);

}  // namespace cudal1
