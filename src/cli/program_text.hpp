#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! A program as it is judged and kept.
struct ProgramText {
  std::string text;  //!< of a file that is too large for a program: how it starts, its size and its SHA-256
  std::optional<Failure> failure;
};

//! Throws Error when the file cannot be read.
ProgramText read_program(const std::filesystem::path& path, const ProgramLimits& limits = {});

}  // namespace cudal1
