// A compiler as a child process: its surroundings, what it writes, and what went wrong when it is stopped or crashes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace cudal1 {

struct Pipe {
  Pipe();  //!< throws Error
  UniqueFd reader, writer;
};

//! One pipe that a compiler writes to.
struct CompilerOutput {
  int pipe = -1;
  std::string& bytes;
  std::size_t most_bytes = 0;
  bool cut = false;  //!< the rest is read and dropped, so that the compiler does not wait; else more is too much
};

enum class Reading { finished, timeout, too_much };

//! Reads all of them to their ends or to the deadline.
Reading read_until(std::span<CompilerOutput> outputs, std::chrono::steady_clock::time_point deadline);

//! Nothing of ours in its environment, its memory limited. Descriptors are for the caller to add.
ChildOptions compiler_child(std::vector<std::string> arguments, std::uint64_t memory_limit_bytes);

Failure stopped_at_time_limit(std::chrono::milliseconds limit);
Failure output_too_large(std::size_t limit_bytes);
Failure out_of_compiler_memory(std::uint64_t limit_bytes, std::string log);
//! It crashed, or gave no answer.
Failure compiler_died(const ChildExit& end, std::uint64_t memory_limit_bytes, std::string log = {});

}  // namespace cudal1
