#include "model/grammar/token_grammar.hpp"

#include <bit>

#include "model/grammar/gbnf_reader.hpp"

namespace cudal1 {
namespace {

void allow(TokenMask& mask, std::int32_t token) {
  mask.bits[static_cast<std::size_t>(token) / 64] |= std::uint64_t{1} << (static_cast<std::size_t>(token) % 64);
}

void count_allowed(TokenMask& mask) {
  for (std::size_t word = 0; word < mask.bits.size(); ++word) {
    mask.allowed_count += std::popcount(mask.bits[word]);
    if (mask.bits[word] != 0) mask.forced = static_cast<std::int32_t>(word) * 64 + std::countr_zero(mask.bits[word]);
  }
  if (mask.allowed_count != 1) mask.forced.reset();
}

}  // namespace

TokenMask common(const TokenMask& a, const TokenMask& b) {
  TokenMask both;
  for (std::size_t word = 0; word < a.bits.size(); ++word) both.bits.push_back(a.bits[word] & b.bits[word]);
  both.may_end = a.may_end && b.may_end;
  count_allowed(both);
  return both;
}

TokenGrammar::TokenGrammar(std::string_view gbnf, std::shared_ptr<const TokenVocabulary> vocabulary,
                           const Options& options)
    : vocabulary_(std::move(vocabulary)),
      matcher_(GrammarAutomaton(read_gbnf(gbnf, "root", options.limits), options.limits), options.matcher),
      masks_to_keep_(options.masks_to_keep),
      path_(vocabulary_->longest_token_bytes() + 1) {}

std::shared_ptr<const TokenMask> TokenGrammar::allowed(const GrammarState& state) {
  matcher_.tidy();
  if (generation_ != matcher_.generation() || masks_.size() >= masks_to_keep_) masks_.clear();
  generation_ = matcher_.generation();
  auto& mask = masks_[state.id()];
  if (!mask) mask = std::make_shared<const TokenMask>(compute_mask(state.id()));
  return mask;
}

//! Walks the tree of the vocabulary; what begins with bytes that cannot follow is stepped over.
TokenMask TokenGrammar::compute_mask(StackSetId state) {
  TokenMask mask;
  mask.bits.assign((static_cast<std::size_t>(vocabulary_->size()) + 63) / 64, 0);
  const auto& tree = vocabulary_->tree();
  path_[0] = state;
  for (std::size_t i = 0; i < tree.size();) {
    const TokenVocabulary::TreeNode& node = tree[i];
    const StackSetId next = matcher_.step(path_[node.depth - 1], node.byte);
    path_[node.depth] = next;
    if (next == StackSets::none) {
      i = node.behind_subtree;
      continue;
    }
    for (std::uint32_t token = node.first_token; token < node.past_token; ++token)
      allow(mask, vocabulary_->tokens_in_order()[token]);
    ++i;
  }
  mask.may_end = matcher_.may_end(state);
  if (mask.may_end)
    for (const std::int32_t token : vocabulary_->end_tokens()) allow(mask, token);
  count_allowed(mask);
  return mask;
}

bool TokenGrammar::advance(GrammarState& state, std::int32_t token) {
  if (token >= 0 && token < vocabulary_->size() && !vocabulary_->bytes(token).empty())
    return matcher_.advance(state, vocabulary_->bytes(token));
  const bool ends = vocabulary_->is_end_token(token) && matcher_.may_end(state);
  state = matcher_.state_of(StackSets::none);
  return ends;
}

}  // namespace cudal1
