#include "model/tokenizer/stream_decoder.hpp"

#include <utility>

#include "base/utf8.hpp"

namespace cudal1 {

std::string StreamDecoder::push(TokenId id) {
  if (skip_special_ && tokenizer_->is_special(id)) return {};
  unfinished_ += tokenizer_->token_bytes(id);
  std::string text;
  unfinished_.erase(0, append_characters(unfinished_, text));
  return text;
}

std::string StreamDecoder::finish() { return replace_invalid_utf8(std::exchange(unfinished_, {})); }

}  // namespace cudal1
