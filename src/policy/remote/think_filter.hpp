#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cudal1 {

//! Some servers leave a model's reasoning in its answer, as <think>…</think> before it. This takes it out, of a text
//! that arrives in pieces.
class ThinkFilter {
 public:
  std::string add(std::string_view piece);                          //!< what belongs to the answer
  std::string finish();                                             //!< what was kept back
  std::size_t reasoning_bytes() const { return reasoning_bytes_; }  //!< taken out so far

 private:
  std::string leave_reasoning();

  enum class State { undecided, reasoning, answer } state_ = State::undecided;
  std::string pending_;
  std::size_t reasoning_bytes_ = 0;
};

}  // namespace cudal1
