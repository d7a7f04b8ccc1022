#pragma once

#include <filesystem>
#include <string>

#include "base/child_process.hpp"

namespace cudal1 {

//! Of a child that has just ended, or is about to, and whose standard error went to that file: "ended with signal 9
//! (its last words)".
std::string obituary(ChildProcess& child, const std::filesystem::path& words);

}  // namespace cudal1
