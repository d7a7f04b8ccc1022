#include "model/tokenizer/pre_tokenizer.hpp"

#include <optional>
#include <string>

#include "model/tokenizer/character_kinds.hpp"

namespace cudal1 {
namespace {

std::string pattern_of(const PreTokenizerStep& step) {
  return step.kind == PreTokenizerStep::Kind::single_digits ? std::string(number_pattern()) : step.pattern;
}

//! One walk over a text; `shown` is what patterns see of it, byte for byte at the same places.
class Cutter {
 public:
  Cutter(const std::vector<Pattern>& patterns, std::string_view shown, std::string_view text,
         const std::function<void(std::string_view)>& use)
      : searches_(patterns.begin(), patterns.end()), shown_(shown), text_(text), use_(use) {}

  //! Each step sees a piece of the step before as a text of its own: what follows it cannot be looked at.
  void cut(std::size_t step, Pattern::Span piece) {
    if (piece.begin == piece.end) return;
    if (step == searches_.size()) return use_(text_.substr(piece.begin, piece.end - piece.begin));
    const std::string_view seen = shown_.substr(piece.begin, piece.end - piece.begin);
    std::size_t done = 0;
    while (const auto match = searches_[step].next(seen, done)) {
      cut(step + 1, {piece.begin + done, piece.begin + match->begin});
      cut(step + 1, {piece.begin + match->begin, piece.begin + match->end});
      done = match->end;
    }
    cut(step + 1, {piece.begin + done, piece.end});
  }

 private:
  std::vector<Pattern::Search> searches_;
  std::string_view shown_, text_;
  const std::function<void(std::string_view)>& use_;
};

}  // namespace

PreTokenizer::PreTokenizer(const std::vector<PreTokenizerStep>& steps) {
  for (const PreTokenizerStep& step : steps) patterns_.emplace_back(pattern_of(step));
}

void PreTokenizer::cut(std::string_view text, const std::function<void(std::string_view)>& use) const {
  const std::optional<std::string> known = with_known_characters(text);
  Cutter(patterns_, known ? std::string_view(*known) : text, text, use).cut(0, {0, text.size()});
}

}  // namespace cudal1
