#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace cudal1 {

//! How many tokens a model makes of a text. Of texts one after the other it need not be the sum.
using TokenCounter = std::function<std::size_t(std::string_view)>;

//! Three bytes a token, rounded up: where the model's tokenizer is not at hand. Code and names have fewer bytes a token
//! than prose, so four, the usual estimate, would be too few tokens.
inline std::size_t estimated_tokens_of_bytes(std::size_t bytes) { return (bytes + 2) / 3; }
inline std::size_t estimated_tokens(std::string_view text) { return estimated_tokens_of_bytes(text.size()); }

}  // namespace cudal1
