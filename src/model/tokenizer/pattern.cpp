#include "model/tokenizer/pattern.hpp"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/result.hpp"

namespace cudal1 {
namespace {

std::string reason_of(int code) {
  std::array<PCRE2_UCHAR, 256> message{};
  pcre2_get_error_message(code, message.data(), message.size());
  return reinterpret_cast<const char*>(message.data());
}

//! Walks over a pattern and knows whether it is inside [...].
class AmbiguityCheck {
 public:
  explicit AmbiguityCheck(std::string_view pattern) : pattern_(pattern) {}

  void run() {
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '\\') {
        escape();
      } else if (in_class_) {
        inside_class(c);
      } else {
        outside_class(c);
      }
    }
  }

 private:
  bool follows(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }

  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(fmt::format("the pre-tokenizer's pattern {} uses {}, which is not supported", pattern_, what));
  }

  void escape() {
    constexpr std::string_view same_in_both = "sSdDpPrntf";
    if (at_ + 1 == pattern_.size()) refuse("a lone \\ at its end");
    const char c = pattern_[at_ + 1];
    const auto byte = static_cast<unsigned char>(c);
    const bool alphanumeric = (byte >= '0' && byte <= '9') || ((byte | 0x20U) >= 'a' && (byte | 0x20U) <= 'z');
    if (alphanumeric && same_in_both.find(c) == std::string_view::npos) refuse(fmt::format("\\{}", c));
    at_ += 2;
    if ((c == 'p' || c == 'P') && follows("{")) at_ = std::min(pattern_.find('}', at_), pattern_.size() - 1) + 1;
  }

  void inside_class(char c) {
    if (c == '[') refuse("a [ inside of [...]");
    if (follows("&&")) refuse("&& inside of [...]");
    if (c == ']') in_class_ = false;
    ++at_;
  }

  void outside_class(char c) {
    if (c == '^' || c == '$' || c == '.') refuse(std::string_view(&c, 1));
    if (follows("{,")) refuse("{,");
    if (follows("}+")) refuse("}+");
    if (c == '[') begin_class();
    if (follows("(?") && !follows("(?:") && !follows("(?i:") && !follows("(?!") && !follows("(?=")) refuse("(?…");
    if (follows("(*")) refuse("(*");
    ++at_;
  }

  void begin_class() {
    in_class_ = true;
    if (pattern_.substr(at_ + 1).starts_with('^')) ++at_;
    if (pattern_.substr(at_ + 1).starts_with(']')) refuse("a ] first in [...]");
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  bool in_class_ = false;
};

}  // namespace

void refuse_ambiguous_pattern(std::string_view pattern) { AmbiguityCheck(pattern).run(); }

void Pattern::Free::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

void Pattern::Search::Free::operator()(pcre2_real_match_data_8* data) const { pcre2_match_data_free(data); }

Pattern::Pattern(const std::string& pattern) : text_(pattern) {
  int problem = 0;
  PCRE2_SIZE place = 0;
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text_.data()), text_.size(), PCRE2_UTF | PCRE2_UCP, &problem,
                            &place, nullptr));
  if (!code_) throw Error(fmt::format("the pre-tokenizer's pattern {}: {} at {}", text_, reason_of(problem), place));
  std::uint32_t matches_empty = 0;
  pcre2_pattern_info(code_.get(), PCRE2_INFO_MATCHEMPTY, &matches_empty);
  if (matches_empty != 0)
    throw Error(fmt::format("the pre-tokenizer's pattern {} matches the empty text, which cuts nothing", text_));
  pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);  // where that is not possible, matching is slower, no more
}

Pattern::Search::Search(const Pattern& pattern) : pattern_(&pattern), data_(pcre2_match_data_create(1, nullptr)) {
  if (!data_) throw Error("no memory left to match the pre-tokenizer's pattern");
}

std::optional<Pattern::Span> Pattern::Search::next(std::string_view text, std::size_t from) {
  const auto match = [&](std::uint32_t options) {
    return pcre2_match(pattern_->code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                       options | PCRE2_NO_UTF_CHECK, data_.get(), nullptr);
  };
  int result = match(0);
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);  // that one takes memory from the heap
  if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
  // 0: captured groups did not fit, the match itself did
  if (result < 0)
    throw Error(fmt::format("matching the pre-tokenizer's pattern {}: {}", pattern_->text_, reason_of(result)));
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data_.get());
  return Span{ends[0], ends[1]};
}

}  // namespace cudal1
