#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cudal1 {

//! The folder that holds cudal1/…, our device headers: $CUDAL1_INCLUDE_DIR, else beside the executable's build or
//! installation, else where it was built. Empty when there is none.
std::filesystem::path program_include_directory();

//! Every header that lies in memory for a compile: ours for host includes, and include/cudal1.
std::map<std::string, std::string> read_program_headers(const std::filesystem::path& include_directory);

//! Every header of the virtual GPU: the same, and include/cudal1_vgpu in place of NVIDIA's.
std::map<std::string, std::string> read_vgpu_headers();

//! The first include of a header that NVIDIA's compiler has and the virtual GPU has not; nothing when all are there.
std::optional<Failure> missing_on_vgpu(std::string_view source, const std::map<std::string, std::string>& headers);

//! The first include that programs may not use, as a failure with its line; nothing when all are offered.
std::optional<Failure> refused_include(std::string_view source, const std::map<std::string, std::string>& in_memory);

//! Programs with headers of libcu++ need the heavy form of cooperative_groups.h.
bool includes_libcudacxx(std::string_view source);

}  // namespace cudal1
