// Text of a model while it writes.
#pragma once

#include <string>

#include "model/tokenizer/tokenizer.hpp"

namespace cudal1 {

//! Gives text out as soon as its characters are whole: what all calls return together is what decode() says of all ids.
class StreamDecoder {
 public:
  //! The tokenizer must outlive it.
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = true)
      : tokenizer_(&tokenizer), skip_special_(skip_special) {}

  std::string push(TokenId id);  //!< may be empty: the character is not whole yet
  std::string finish();          //!< U+FFFD where a character was left unfinished; ready for another text then

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  std::string unfinished_;  //!< at most three bytes
};

}  // namespace cudal1
