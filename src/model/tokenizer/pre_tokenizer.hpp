// Cuts a text into the pieces within which merges happen.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "model/tokenizer/pattern.hpp"
#include "model/tokenizer_data.hpp"

namespace cudal1 {

class PreTokenizer {
 public:
  //! Throws Error where a pattern is not a regular expression.
  explicit PreTokenizer(const std::vector<PreTokenizerStep>& steps);

  //! Calls `use` with every piece of a valid UTF-8 text, in order; together they are the text.
  void cut(std::string_view text, const std::function<void(std::string_view)>& use) const;

 private:
  std::vector<Pattern> patterns_;  //!< one a step
};

}  // namespace cudal1
