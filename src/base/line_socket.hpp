// A conversation with a child process: one line each way.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/unique_fd.hpp"

namespace cudal1 {

class LineSocket {
 public:
  enum class Heard { line, end, too_late, too_long };

  LineSocket() = default;
  //! `theirs` is the other end, for the child.
  explicit LineSocket(UniqueFd& theirs);  //!< throws Error
  //! An end that was given to us.
  static LineSocket at(UniqueFd socket);
  //! Of a process whose parent gave it the other end as its standard input: moved to where nobody whom it starts finds
  //! it.
  static LineSocket taken_from_standard_input();

  //! To one that has ended, nothing is sent; reading will find out.
  void send(const std::string& line) const;
  //! Waits for a whole line, which may be as long as that.
  Heard read(std::string& line, std::size_t most_bytes, std::chrono::steady_clock::time_point deadline);

 private:
  UniqueFd socket_;
  std::string pending_;  // read and not yet asked for
};

}  // namespace cudal1
