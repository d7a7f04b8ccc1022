// One run of clang in a process of its own that is killed at its limits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cudal1 {

//! Exit code of cudal1-clang when it does not get as far as clang.
constexpr int clang_cannot_start = 120;

struct ClangRun {
  std::filesystem::path launcher;               //!< cudal1-clang
  std::vector<std::filesystem::path> readable;  //!< besides clang itself and its libraries
  std::vector<std::string> arguments;           //!< arguments[0] is clang
  std::string source;                           //!< clang's standard input
  std::chrono::milliseconds time_limit{20'000};
  std::uint64_t memory_limit_bytes = std::uint64_t{4} << 30;
};

struct ClangOutput {
  bool succeeded = false;  //!< else the log has an error
  std::string ptx;
  std::string log;
};

//! Failures: compile_timeout when a limit is reached or clang crashes, judge_error when it cannot be started.
Result<ClangOutput> run_clang(const ClangRun& run);

}  // namespace cudal1
