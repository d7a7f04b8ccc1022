// Text to token ids and back, as Hugging Face's byte-level BPE tokenizers do it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer/token_id.hpp"
#include "model/tokenizer_data.hpp"

namespace cudal1 {

//! May be used by many threads at a time. Texts that are not valid UTF-8 are read as Python's errors="replace" reads
//! them: U+FFFD stands for what is wrong.
class Tokenizer {
 public:
  //! Throws Error where the parts do not fit together: no merges, merges of what is no token, a wrong pattern.
  explicit Tokenizer(const TokenizerData& data);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  //! For text of users and tasks: whatever it says, no added token comes of it; "<|im_end|>" becomes ordinary ones.
  //! Bytes that the vocabulary has no token for are left out, as in transformers.
  std::vector<TokenId> encode(std::string_view text) const;

  //! For text of our own: an added token's text becomes that token, as in transformers.
  std::vector<TokenId> encode_with_special(std::string_view text) const;

  //! Invalid UTF-8 becomes U+FFFD. Ids without a token are nothing, as in transformers (models have more ids than their
  //! tokenizers); `skip_special` leaves control tokens out.
  std::string decode(std::span<const TokenId> ids, bool skip_special = false) const;

  //! The bytes that an id stands for, which may be a part of a character; empty for ids without a token.
  std::string_view token_bytes(TokenId id) const;
  bool is_special(TokenId id) const;  //!< a control token

  //! The added token with exactly this text.
  std::optional<TokenId> find_special(std::string_view text) const;

  std::size_t vocabulary_size() const;  //!< ids are smaller
  std::optional<TokenId> begin_of_text() const, end_of_text() const;

 private:
  struct Parts;
  void append_text(std::string_view text, std::vector<TokenId>& ids) const;
  void append_piece(std::string_view piece, std::vector<TokenId>& ids) const;

  std::unique_ptr<Parts> parts_;
};

}  // namespace cudal1
