#include "policy/local/grammar_constraint.hpp"

#include <algorithm>
#include <utility>

namespace cudal1 {

std::shared_ptr<const TokenVocabulary> vocabulary_of(const Tokenizer& tokenizer, std::size_t vocabulary,
                                                     const std::vector<std::int32_t>& end_tokens) {
  std::vector<std::string> bytes(vocabulary);
  for (std::size_t id = 0; id < std::min(vocabulary, tokenizer.vocabulary_size()); ++id)
    if (const auto token = static_cast<TokenId>(id); !tokenizer.is_special(token))
      bytes[id] = tokenizer.token_bytes(token);
  return std::make_shared<const TokenVocabulary>(std::move(bytes), end_tokens);
}

namespace {

class OneText : public TokenConstraint {
 public:
  explicit OneText(TokenGrammar& grammar) : grammar_(grammar), state_(grammar.start()) {}

  void allow(AllowedTokens& allowed) override {
    const auto mask = grammar_.allowed(state_);
    std::ranges::copy(mask->bits, allowed.words.begin());
  }
  void accept(std::int32_t token) override { grammar_.advance(state_, token); }

 private:
  TokenGrammar& grammar_;
  GrammarState state_;
};

}  // namespace

GrammarConstraints::GrammarConstraints(std::string grammar, const Tokenizer& tokenizer, std::size_t vocabulary,
                                       const std::vector<std::int32_t>& end_tokens)
    : text_(std::move(grammar)), grammar_(text_, vocabulary_of(tokenizer, vocabulary, end_tokens)) {}

std::function<std::unique_ptr<TokenConstraint>()> GrammarConstraints::maker() {
  return [this] { return std::make_unique<OneText>(grammar_); };
}

}  // namespace cudal1
