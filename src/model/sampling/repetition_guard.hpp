// Notices a text that has begun to repeat itself and will not stop.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cudal1 {

//! A loop is the same tokens again and again at the end of a text: at least `repeats` times and `tokens` tokens in all.
struct RepetitionLimits {
  std::int64_t longest_period = 64;  //!< tokens that are repeated; 0: nothing is looked for
  std::int64_t repeats = 6;
  std::int64_t tokens = 96;
};

class RepetitionGuard {
 public:
  explicit RepetitionGuard(const RepetitionLimits& limits);
  //! The period of the loop that the text has got into with this token, or none.
  std::optional<std::int64_t> add(std::int32_t token);

 private:
  RepetitionLimits limits_;
  std::vector<std::int32_t> text_;
  std::vector<std::int64_t> equal_;  //!< by period - 1: how many of the last tokens equal the one a period before
};

}  // namespace cudal1
