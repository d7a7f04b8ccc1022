// A grammar over the tokens of a model: which may come next.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/grammar/grammar_matcher.hpp"
#include "model/grammar/token_vocabulary.hpp"

namespace cudal1 {

struct TokenMask {
  std::vector<std::uint64_t> bits;     //!< bit t % 64 of word t / 64: token t is allowed, end-of-text tokens included
  std::int32_t allowed_count = 0;      //!< 0: nothing leads on, not even the end
  bool may_end = false;                //!< end-of-text is allowed
  std::optional<std::int32_t> forced;  //!< the only one that is allowed

  bool allows(std::int32_t token) const {
    return (bits[static_cast<std::size_t>(token) / 64] >> (static_cast<std::size_t>(token) % 64) & 1) != 0;
  }
};

//! What both allow.
TokenMask common(const TokenMask& a, const TokenMask& b);

//! For one thread at a time. States must be gone before it is.
class TokenGrammar {
 public:
  struct Options {
    GrammarLimits limits;
    GrammarMatcher::Options matcher;
    std::size_t masks_to_keep = 4096;  //!< 6 KiB each with 49,152 tokens
  };

  //! Throws Error for what is no grammar, see read_gbnf.
  TokenGrammar(std::string_view gbnf, std::shared_ptr<const TokenVocabulary> vocabulary)
      : TokenGrammar(gbnf, std::move(vocabulary), Options{}) {}
  TokenGrammar(std::string_view gbnf, std::shared_ptr<const TokenVocabulary> vocabulary, const Options& options);

  //! Before the first token.
  GrammarState start() { return matcher_.start(); }
  //! A token is allowed if the grammar derives a text that begins with all bytes so far and the token's. Valid as long
  //! as it is held; equal states share one.
  std::shared_ptr<const TokenMask> allowed(const GrammarState& state);
  //! False: the token was not allowed. The state is dead then, and behind an end-of-text token.
  bool advance(GrammarState& state, std::int32_t token);
  bool may_end(const GrammarState& state) const { return matcher_.may_end(state); }

  GrammarMatcher& matcher() { return matcher_; }
  const TokenVocabulary& vocabulary() const { return *vocabulary_; }

 private:
  TokenMask compute_mask(StackSetId state);

  std::shared_ptr<const TokenVocabulary> vocabulary_;
  GrammarMatcher matcher_;
  std::size_t masks_to_keep_;
  std::uint64_t generation_ = 0;
  std::unordered_map<StackSetId, std::shared_ptr<const TokenMask>> masks_;
  std::vector<StackSetId> path_;  //!< by depth in the vocabulary's tree
};

}  // namespace cudal1
