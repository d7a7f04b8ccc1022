// What a model in training may say about a task: the grammar of its answers, over tokens. The sampler draws under it, and
// the trainer follows the same tokens through it again to know what else could have come: both see one policy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/grammar/token_grammar.hpp"
#include "model/sampling/sampling_engine.hpp"

namespace cudal1 {

//! Once the first line of an answer, which is free text, has so many bytes, only what ends it may come.
inline constexpr std::size_t most_analysis_bytes = 400;

//! What may come follows from the tokens so far. For one thread at a time.
class AnswerGrammar {
 public:
  //! `ends_line`: the tokens of the vocabulary that have a line's end in them. Throws Error for what is no grammar.
  AnswerGrammar(std::string gbnf, std::shared_ptr<const TokenVocabulary> vocabulary,
                std::shared_ptr<const TokenMask> ends_line);

  //! Where one answer stands; it must be gone before its grammar is.
  struct Place {
    GrammarState state;
    std::size_t first_line_bytes = 0;
    bool is_first_line = true;
  };
  Place start() { return {grammar_.start()}; }
  std::shared_ptr<const TokenMask> allowed(const Place& place);
  //! False: the token was not allowed, and nothing can follow.
  bool advance(Place& place, std::int32_t token);

  //! Of each of these tokens, which could have come in its place. Throws Error for one that could not.
  std::vector<std::shared_ptr<const TokenMask>> allowed_along(std::span<const DrawnToken> tokens);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  TokenGrammar grammar_;
  std::shared_ptr<const TokenMask> ends_line_;
};

//! Those that were asked for last, with the masks that they have made.
class AnswerGrammars {
 public:
  explicit AnswerGrammars(std::shared_ptr<const TokenVocabulary> vocabulary, std::size_t most_kept = 32);

  std::shared_ptr<AnswerGrammar> of(const std::string& gbnf);
  //! For a request whose samples are held to this grammar.
  std::function<std::unique_ptr<TokenConstraint>()> constraint(const std::string& gbnf);

 private:
  std::shared_ptr<const TokenVocabulary> vocabulary_;
  std::shared_ptr<const TokenMask> ends_line_;
  std::size_t most_kept_;
  std::list<std::shared_ptr<AnswerGrammar>> kept_;  //!< the last one first
};

}  // namespace cudal1
