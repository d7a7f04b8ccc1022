#include "model/grammar/token_vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.hpp"

namespace cudal1 {
namespace {

std::size_t common_prefix(const std::string& a, const std::string& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

TokenVocabulary::TokenVocabulary(std::vector<std::string> bytes, std::vector<std::int32_t> end_tokens)
    : bytes_(std::move(bytes)), end_tokens_(std::move(end_tokens)) {
  for (const std::int32_t token : end_tokens_) {
    if (token < 0 || token >= size())
      throw Error(fmt::format("end-of-text token {} is not in the vocabulary of {} tokens; check the model's files",
                              token, size()));
    bytes_[static_cast<std::size_t>(token)].clear();
  }
  build_tree();
}

bool TokenVocabulary::is_end_token(std::int32_t token) const {
  return std::ranges::find(end_tokens_, token) != end_tokens_.end();
}

void TokenVocabulary::build_tree() {
  for (std::int32_t token = 0; token < size(); ++token)
    if (!bytes(token).empty()) tokens_in_order_.push_back(token);
  std::ranges::sort(tokens_in_order_,
                    [&](std::int32_t a, std::int32_t b) { return bytes(a) != bytes(b) ? bytes(a) < bytes(b) : a < b; });
  std::vector<std::size_t> open;  // by depth: the node on the way to the token before
  const std::string no_token;
  const std::string* before = &no_token;
  for (std::size_t i = 0; i < tokens_in_order_.size(); ++i) {
    const std::string& token = bytes(tokens_in_order_[i]);
    close_nodes(open, common_prefix(*before, token));
    while (open.size() < token.size()) {
      TreeNode node;
      node.byte = static_cast<std::uint8_t>(token[open.size()]);
      node.first_token = node.past_token = static_cast<std::uint32_t>(i);
      open.push_back(tree_.size());
      node.depth = static_cast<std::uint32_t>(open.size());
      tree_.push_back(node);
    }
    tree_[open.back()].past_token = static_cast<std::uint32_t>(i) + 1;
    longest_ = std::max(longest_, token.size());
    before = &token;
  }
  close_nodes(open, 0);
}

void TokenVocabulary::close_nodes(std::vector<std::size_t>& open, std::size_t depth) {
  for (; open.size() > depth; open.pop_back())
    tree_[open.back()].behind_subtree = static_cast<std::uint32_t>(tree_.size());
}

}  // namespace cudal1
