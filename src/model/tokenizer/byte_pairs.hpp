// Byte-pair encoding: the bytes of a piece become tokens, and neighbours are merged, best pair first.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/tokenizer/text_hash.hpp"
#include "model/tokenizer/token_id.hpp"

namespace cudal1 {

class BytePairs {
 public:
  using Vocabulary = TextMap<TokenId>;  //!< tokens in the alphabet of bytes
  //! Throws Error where a merge joins or makes what is no token, and where there are none.
  BytePairs(const Vocabulary& vocabulary, const std::vector<std::pair<std::string, std::string>>& merges);

  //! Appends the tokens of one piece of a text, in O(n log n) of its bytes. Bytes that the vocabulary has no token for
  //! are left out, as in transformers.
  void encode(std::string_view piece, std::vector<TokenId>& ids) const;

 private:
  struct Merge {
    std::int32_t rank = 0;
    TokenId result = 0;
  };
  struct PairHash {
    std::size_t operator()(std::uint64_t pair) const { return (pair ^ (pair >> 29)) * 0x9E3779B97F4A7C15ULL; }
  };
  class Symbols;

  const Merge* find(TokenId left, TokenId right) const;

  std::array<TokenId, 256> token_of_byte_{};  //!< -1: none
  std::unordered_map<std::uint64_t, Merge, PairHash> merges_;
};

}  // namespace cudal1
