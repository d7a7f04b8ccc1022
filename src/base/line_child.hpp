// One of our own executables as a child with which lines are exchanged. What it writes to standard error is kept for
// its obituary.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/line_socket.hpp"

namespace cudal1 {

//! What every child of ours has, the cache, `threads` for PyTorch (0: as many as it wants), and variables of these
//! names where we have them.
std::vector<std::pair<std::string, std::string>> environment_with(int threads, const std::vector<std::string>& names);

class LineChild {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;
  //! `executable` lies beside the one that runs. Throws Error.
  LineChild(const std::string& executable, Environment environment);

  void send(const std::string& line) const { socket_.send(line); }
  LineSocket::Heard read(std::string& line, std::size_t most_bytes, std::chrono::steady_clock::time_point deadline) {
    return socket_.read(line, most_bytes, deadline);
  }
  //! After it has ended: "ended with signal 9 (its last words)".
  std::string obituary();
  //! It is given a moment to take leave; who does not, is made to.
  void end();

 private:
  std::filesystem::path messages_file() const { return folder_.path() / "messages.txt"; }

  TemporaryFolder folder_;
  LineSocket socket_;
  ChildProcess child_;
};

}  // namespace cudal1
