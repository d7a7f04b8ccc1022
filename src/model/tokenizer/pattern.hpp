// A regular expression of a pre-tokenizer, run by PCRE2 with its just-in-time compiler.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;

namespace cudal1 {

//! Throws Error where a pattern is written in a way that Oniguruma, for which tokenizer files write them, and PCRE2 may
//! understand differently (^, $, \w, [a&&b], {,3} and the like).
void refuse_ambiguous_pattern(std::string_view pattern);

//! May be used by many threads at a time.
class Pattern {
 public:
  //! Throws Error with the pattern and what is wrong with it; also where it matches the empty text.
  explicit Pattern(const std::string& pattern);

  struct Span {
    std::size_t begin = 0, end = 0;
  };

  //! Finds matches one after another; one thread only.
  class Search {
   public:
    explicit Search(const Pattern& pattern);
    //! The first match at `from` or after it; `text` is valid UTF-8, `from` a character's beginning.
    std::optional<Span> next(std::string_view text, std::size_t from);

   private:
    const Pattern* pattern_;
    struct Free {
      void operator()(pcre2_real_match_data_8* data) const;
    };
    std::unique_ptr<pcre2_real_match_data_8, Free> data_;
  };

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::string text_;
  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace cudal1
