#include "model/tokenizer/added_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::ranges::stable_sort(tokens_, std::ranges::greater{}, [](const AddedToken& token) { return token.text.size(); });
  std::set<std::int32_t> ids;
  std::set<std::string_view> texts;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    if (token.text.empty()) throw Error(fmt::format("the tokenizer's added token {} has no text", token.id));
    if (!ids.insert(token.id).second)
      throw Error(fmt::format("the tokenizer has two added tokens with the id {}", token.id));
    if (!texts.insert(token.text).second)
      throw Error(fmt::format("the tokenizer has two added tokens with the text \"{}\"", token.text));
    by_first_[static_cast<unsigned char>(token.text[0])].push_back(i);
  }
}

std::optional<AddedTokens::Match> AddedTokens::next(std::string_view text, std::size_t from) const {
  for (std::size_t at = from; at < text.size(); ++at) {
    for (const std::size_t place : by_first_[static_cast<unsigned char>(text[at])]) {
      const AddedToken& token = tokens_[place];
      if (text.substr(at).starts_with(token.text)) return Match{at, at + token.text.size(), &token};
    }
  }
  return std::nullopt;
}

const AddedToken* AddedTokens::find(std::string_view text) const {
  const auto found = std::ranges::find(tokens_, text, &AddedToken::text);
  return found == tokens_.end() ? nullptr : &*found;
}

}  // namespace cudal1
