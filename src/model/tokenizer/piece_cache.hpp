// Tokens of pieces that were seen before: most of a text is words that come again.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <vector>

#include "model/tokenizer/text_hash.hpp"
#include "model/tokenizer/token_id.hpp"

namespace cudal1 {

//! May be used by many threads at a time; takes no more once it is full.
class PieceCache {
 public:
  //! Appends what is known of a piece; false: nothing is.
  bool append(std::string_view piece, std::vector<TokenId>& ids) const;
  void remember(std::string_view piece, std::span<const TokenId> ids);

 private:
  mutable std::shared_mutex mutex_;
  TextMap<std::vector<TokenId>> known_;
};

}  // namespace cudal1
