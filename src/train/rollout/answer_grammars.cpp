#include "train/rollout/answer_grammars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {
namespace {

//! There is one for each task under way: few of what a task's programs do not come back to.
TokenGrammar::Options kept_for_a_task() {
  TokenGrammar::Options options;
  options.matcher.sets_to_keep = 1 << 14;
  options.masks_to_keep = 1024;
  return options;
}

std::shared_ptr<const TokenMask> tokens_that_end_lines(const TokenVocabulary& vocabulary) {
  auto mask = std::make_shared<TokenMask>();
  mask->bits.resize((static_cast<std::size_t>(vocabulary.size()) + 63) / 64);
  for (std::int32_t token = 0; token < vocabulary.size(); ++token)
    if (vocabulary.bytes(token).find('\n') != std::string::npos)
      mask->bits[static_cast<std::size_t>(token) / 64] |= std::uint64_t{1} << (static_cast<std::size_t>(token) % 64);
  return mask;
}

class OneAnswer final : public TokenConstraint {
 public:
  explicit OneAnswer(std::shared_ptr<AnswerGrammar> grammar) : grammar_(std::move(grammar)), place_(grammar_->start()) {}

  void allow(AllowedTokens& allowed) override {
    std::ranges::copy(grammar_->allowed(place_)->bits, allowed.words.begin());
  }
  void accept(std::int32_t token) override { grammar_->advance(place_, token); }

 private:
  std::shared_ptr<AnswerGrammar> grammar_;  // outlives the place
  AnswerGrammar::Place place_;
};

}  // namespace

AnswerGrammar::AnswerGrammar(std::string gbnf, std::shared_ptr<const TokenVocabulary> vocabulary,
                             std::shared_ptr<const TokenMask> ends_line)
    : text_(std::move(gbnf)),
      grammar_(text_, std::move(vocabulary), kept_for_a_task()),
      ends_line_(std::move(ends_line)) {}

//! The bound is no part of the grammar's text: each number of bytes would be a state with a mask of its own.
std::shared_ptr<const TokenMask> AnswerGrammar::allowed(const Place& place) {
  const auto mask = grammar_.allowed(place.state);
  if (!place.is_first_line || place.first_line_bytes < most_analysis_bytes) return mask;
  TokenMask ending = common(*mask, *ends_line_);
  return ending.allowed_count > 0 ? std::make_shared<const TokenMask>(std::move(ending)) : mask;
}

bool AnswerGrammar::advance(Place& place, std::int32_t token) {
  if (place.is_first_line && token >= 0 && token < grammar_.vocabulary().size()) {
    const std::string& bytes = grammar_.vocabulary().bytes(token);
    place.first_line_bytes += bytes.size();
    place.is_first_line = bytes.find('\n') == std::string::npos;
  }
  return grammar_.advance(place.state, token);
}

std::vector<std::shared_ptr<const TokenMask>> AnswerGrammar::allowed_along(std::span<const DrawnToken> tokens) {
  std::vector<std::shared_ptr<const TokenMask>> masks;
  Place place = start();
  for (const DrawnToken& token : tokens) {
    masks.push_back(allowed(place));
    const bool is_known = token.id >= 0 && token.id < grammar_.vocabulary().size();
    if (!is_known || !masks.back()->allows(token.id))
      throw Error(fmt::format("token {} of an answer ({}) is not of the grammar under which it was written",
                              masks.size(), token.id));
    advance(place, token.id);
  }
  return masks;
}

AnswerGrammars::AnswerGrammars(std::shared_ptr<const TokenVocabulary> vocabulary, std::size_t most_kept)
    : vocabulary_(std::move(vocabulary)), ends_line_(tokens_that_end_lines(*vocabulary_)), most_kept_(most_kept) {}

std::shared_ptr<AnswerGrammar> AnswerGrammars::of(const std::string& gbnf) {
  const auto known = std::ranges::find_if(kept_, [&](const auto& each) { return each->text() == gbnf; });
  if (known != kept_.end())
    kept_.splice(kept_.begin(), kept_, known);
  else
    kept_.push_front(std::make_shared<AnswerGrammar>(gbnf, vocabulary_, ends_line_));
  if (kept_.size() > most_kept_) kept_.pop_back();
  return kept_.front();
}

std::function<std::unique_ptr<TokenConstraint>()> AnswerGrammars::constraint(const std::string& gbnf) {
  return [grammar = of(gbnf)] { return std::make_unique<OneAnswer>(grammar); };
}

}  // namespace cudal1
