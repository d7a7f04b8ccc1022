#include "model/tokenizer/piece_cache.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t most_pieces = 1 << 16, longest_piece_bytes = 64;  // some 8 MB

}

bool PieceCache::append(std::string_view piece, std::vector<TokenId>& ids) const {
  if (piece.size() > longest_piece_bytes) return false;
  const std::shared_lock lock(mutex_);
  const auto found = known_.find(piece);
  if (found == known_.end()) return false;
  ids.insert(ids.end(), found->second.begin(), found->second.end());
  return true;
}

void PieceCache::remember(std::string_view piece, std::span<const TokenId> ids) {
  if (piece.size() > longest_piece_bytes) return;
  const std::unique_lock lock(mutex_);
  if (known_.size() < most_pieces) known_.try_emplace(std::string(piece), ids.begin(), ids.end());
}

}  // namespace cudal1
