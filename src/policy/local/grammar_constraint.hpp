// Holds samples of a local model to a grammar.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/grammar/token_grammar.hpp"
#include "model/sampling/sampling_engine.hpp"
#include "model/tokenizer/tokenizer.hpp"

namespace cudal1 {

//! The tokens of a model: `vocabulary` of them, which may be more than its tokenizer has.
std::shared_ptr<const TokenVocabulary> vocabulary_of(const Tokenizer& tokenizer, std::size_t vocabulary,
                                                     const std::vector<std::int32_t>& end_tokens);

class GrammarConstraints {
 public:
  //! `vocabulary`: of the model, which may have more ids than its tokenizer. Throws Error for what is no grammar.
  GrammarConstraints(std::string grammar, const Tokenizer& tokenizer, std::size_t vocabulary,
                     const std::vector<std::int32_t>& end_tokens);

  const std::string& grammar() const { return text_; }
  //! One constraint for each sample; they must not outlive this.
  std::function<std::unique_ptr<TokenConstraint>()> maker();

 private:
  std::string text_;
  TokenGrammar grammar_;
};

}  // namespace cudal1
