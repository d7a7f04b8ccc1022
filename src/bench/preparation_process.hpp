#pragma once

#include <optional>
#include <string>

#include "base/child_process.hpp"
#include "base/line_socket.hpp"
#include "bench/preparation.hpp"

namespace cudal1 {

//! prepare() in a process of its own (`cudal1-prepare`), which may crash. It serves one request after the other: to
//! start on a GPU, and to load what every judge needs there, takes longer than to judge a small program, and all
//! processes of a machine wait for each other in it. Use it from one thread, with which it ends.
class PreparationProcess {
 public:
  //! Never throws: what went wrong is a status. After that the process is another one: its GPU may have failed. And one
  //! that has served others before and ends without an answer may have had its reasons from them: a new one is asked.
  Preparation run(const PreparationRequest& request);

 private:
  void start();
  bool is_used() { return served_ > 0 && child_ && child_->running(); }
  Preparation ask(const PreparationRequest& request);

  LineSocket socket_;
  std::optional<ChildProcess> child_;
  int served_ = 0;  //!< requests, by this child
};

//! Did it come to nothing because others had the memory, as far as can be told? A device that is full shows in many
//! ways, and looks like the program's fault in some.
bool is_short_of_memory(const Preparation& preparation);

}  // namespace cudal1
