#include "model/tokenizer/byte_pairs.hpp"

#include <fmt/format.h>

#include <limits>
#include <queue>

#include "base/result.hpp"
#include "model/tokenizer/byte_alphabet.hpp"

namespace cudal1 {
namespace {

std::uint64_t pair_key(TokenId left, TokenId right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) | static_cast<std::uint32_t>(right);
}

}  // namespace

//! The tokens of a piece as a linked list, and the merges that its neighbours allow, best and leftmost first.
class BytePairs::Symbols {
 public:
  Symbols(const BytePairs& pairs, std::string_view piece) : pairs_(pairs) {
    symbols_.reserve(piece.size());
    for (const char byte : piece) {
      const TokenId token = pairs.token_of_byte_[static_cast<unsigned char>(byte)];
      if (token < 0) continue;
      const int place = static_cast<int>(symbols_.size());
      symbols_.push_back({token, place - 1, place + 1});
    }
    if (!symbols_.empty()) symbols_.back().next = none;
    for (std::size_t i = 0; i + 1 < symbols_.size(); ++i) consider(static_cast<int>(i));
  }

  void merge_all() {
    while (!candidates_.empty()) {
      const Candidate best = candidates_.top();
      candidates_.pop();
      if (is_current(best)) merge(best);
    }
  }

  void append_to(std::vector<TokenId>& ids) const {
    for (int i = symbols_.empty() ? none : 0; i != none; i = at(i).next) ids.push_back(at(i).token);
  }

 private:
  static constexpr int none = -1;
  struct Symbol {
    TokenId token;  //!< -1: merged into the one before
    int previous, next;
  };
  struct Candidate {
    std::int32_t rank;
    int left;
    TokenId result;
    bool operator<(const Candidate& other) const {  // the top of a priority_queue is its largest
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };

  Symbol& at(int place) { return symbols_[static_cast<std::size_t>(place)]; }
  const Symbol& at(int place) const { return symbols_[static_cast<std::size_t>(place)]; }

  void consider(int left) {
    if (left == none || at(left).next == none) return;
    const Merge* merge = pairs_.find(at(left).token, at(at(left).next).token);
    if (merge) candidates_.push({merge->rank, left, merge->result});
  }

  //! Neighbours may have been merged since.
  bool is_current(const Candidate& candidate) const {
    const Symbol& left = at(candidate.left);
    if (left.token < 0 || left.next == none) return false;
    const Merge* merge = pairs_.find(left.token, at(left.next).token);
    return merge && merge->result == candidate.result;
  }

  void merge(const Candidate& candidate) {
    Symbol& left = at(candidate.left);
    Symbol& right = at(left.next);
    left.token = candidate.result;
    left.next = right.next;
    right.token = none;
    if (left.next != none) at(left.next).previous = candidate.left;
    consider(left.previous);
    consider(candidate.left);
  }

  const BytePairs& pairs_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate> candidates_;
};

BytePairs::BytePairs(const Vocabulary& vocabulary, const std::vector<std::pair<std::string, std::string>>& merges) {
  if (merges.empty())
    throw Error(
        "the tokenizer has no merges: it is not byte-pair encoding, or its file is damaged; get the model's files "
        "again");
  if (merges.size() > std::numeric_limits<std::int32_t>::max()) throw Error("the tokenizer has too many merges");
  const auto token = [&](const std::string& text, std::size_t rank) {
    const auto found = vocabulary.find(text);
    if (found == vocabulary.end())
      throw Error(fmt::format("merge {} of the tokenizer (\"{} {}\") needs \"{}\", which is not in its vocabulary",
                              rank + 1, merges[rank].first, merges[rank].second, text));
    return found->second;
  };
  merges_.reserve(merges.size());
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const std::uint64_t key = pair_key(token(left, rank), token(right, rank));
    merges_[key] = {static_cast<std::int32_t>(rank), token(left + right, rank)};
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto found = vocabulary.find(letter_of_byte(static_cast<unsigned char>(byte)));
    token_of_byte_[byte] = found == vocabulary.end() ? -1 : found->second;
  }
}

const BytePairs::Merge* BytePairs::find(TokenId left, TokenId right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void BytePairs::encode(std::string_view piece, std::vector<TokenId>& ids) const {
  if (piece.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error("a text of more than 2 GB without a break cannot be made into tokens");
  Symbols symbols(*this, piece);
  symbols.merge_all();
  symbols.append_to(ids);
}

}  // namespace cudal1
