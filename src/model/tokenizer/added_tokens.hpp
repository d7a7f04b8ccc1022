// Tokens that stand for a text as a whole (<|im_start|>), outside of merges.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/tokenizer_data.hpp"

namespace cudal1 {

class AddedTokens {
 public:
  //! Throws Error where two have the same id or text, or one has no text.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  struct Match {
    std::size_t begin = 0, end = 0;
    const AddedToken* token = nullptr;
  };
  //! The leftmost one at `from` or after it, the longest of those that begin there.
  std::optional<Match> next(std::string_view text, std::size_t from) const;

  const AddedToken* find(std::string_view text) const;  //!< null: none
  std::span<const AddedToken> all() const { return tokens_; }

 private:
  std::vector<AddedToken> tokens_;                        //!< longest text first
  std::array<std::vector<std::size_t>, 256> by_first_{};  //!< their places by the text's first byte
};

}  // namespace cudal1
