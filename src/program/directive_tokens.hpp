// The words of one directive line, and a cursor over them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/source_scan.hpp"

namespace cudal1 {

enum class DirectiveTokenKind { word, number, quoted, punctuation, end };

struct DirectiveToken {
  DirectiveTokenKind kind = DirectiveTokenKind::end;
  std::string_view text;  //!< of a quoted name: what is between the quotes
  SourcePosition at;
  bool space_before = false;

  bool is(std::string_view punctuation) const { return kind == DirectiveTokenKind::punctuation && text == punctuation; }
  bool is_word() const { return kind == DirectiveTokenKind::word; }
};

//! How a message shows a token: 'relu_1', "fc.weight" or "the end of the directive".
std::string shown(const DirectiveToken& token);

class TokenCursor {
 public:
  //! Throws Rejection (a quote that is not closed).
  explicit TokenCursor(const DirectiveText& directive);

  const DirectiveToken& peek(std::size_t ahead = 0) const;
  DirectiveToken next();
  bool at_end() const { return peek().kind == DirectiveTokenKind::end; }
  bool accept(std::string_view punctuation);
  //! Throws Rejection: "expected ')' after …, found …".
  void expect(std::string_view punctuation, std::string_view after);

 private:
  std::vector<DirectiveToken> tokens_;  //!< the last one is `end`
  std::size_t index_ = 0;
};

}  // namespace cudal1
