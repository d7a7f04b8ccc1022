// A further process of a run, `cudal1-learner`, as the one that leads sees it: it holds the same model and computes its
// share of each step. It ends with this object, or with this process.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/channel.hpp"
#include "base/child_process.hpp"
#include "base/files.hpp"
#include "train/parallel/learner_messages.hpp"

namespace cudal1 {

class LearnerProcess {
 public:
  //! On a GPU, member k has the k-th that this process sees. Throws Error.
  explicit LearnerProcess(const HoldModel& what);

  Channel& channel() { return channel_; }
  pid_t pid() const { return child_.pid(); }
  std::string how_it_ended();

 private:
  std::filesystem::path words() const { return folder_.path() / "messages.txt"; }

  TemporaryFolder folder_;
  Channel channel_;
  ChildProcess child_;
};

//! The n-th of the GPUs that CUDA_VISIBLE_DEVICES names; null: all of them are seen.
std::string gpu_of_member(const char* visible, std::size_t member);

//! What such a process does: carries out orders until the leader goes. Throws Error.
void serve_as_learner(Channel channel, const std::function<ModelTurns()>& gpu_turns);

}  // namespace cudal1
