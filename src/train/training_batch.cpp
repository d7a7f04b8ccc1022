#include "train/training_batch.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {
namespace {

static_assert(std::endian::native == std::endian::little, "words of 64 bits are read as two of 32");

//! Gives equal masks equal numbers; states of grammars share theirs, so that most are known by their address.
class MaskTable {
 public:
  std::int32_t number_of(const std::shared_ptr<const TokenMask>& mask) {
    if (!mask) return -1;
    const auto [known, is_new] = by_address_.try_emplace(mask.get(), 0);
    if (is_new) known->second = number_of(mask->bits);
    return known->second;
  }

  //! Not defined: nobody asked for a mask.
  at::Tensor table(at::Device device) const {
    if (masks_.empty()) return {};
    const std::size_t bytes = masks_.front()->size() * sizeof(std::uint64_t);
    const at::Tensor made = at::empty({std::ssize(masks_), static_cast<std::int64_t>(bytes / 4)}, at::kInt);
    auto* to = reinterpret_cast<unsigned char*>(made.mutable_data_ptr<std::int32_t>());
    for (std::size_t i = 0; i < masks_.size(); ++i) std::memcpy(to + i * bytes, masks_[i]->data(), bytes);
    return uploaded(made, device);
  }

 private:
  std::int32_t number_of(const std::vector<std::uint64_t>& bits) {
    if (!masks_.empty() && masks_.front()->size() != bits.size())
      throw Error("the masks of these texts are of different vocabularies");
    std::uint64_t hash = 0;
    for (const std::uint64_t word : bits) hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL + (hash >> 29U);
    for (auto [at, end] = by_hash_.equal_range(hash); at != end; ++at)
      if (*masks_[static_cast<std::size_t>(at->second)] == bits) return at->second;
    const auto number = static_cast<std::int32_t>(masks_.size());
    masks_.push_back(&bits);
    by_hash_.emplace(hash, number);
    return number;
  }

  std::unordered_map<const TokenMask*, std::int32_t> by_address_;
  std::unordered_multimap<std::uint64_t, std::int32_t> by_hash_;
  std::vector<const std::vector<std::uint64_t>*> masks_;  //!< of the texts, which hold them
};

void check_lengths(const TrainingText& text) {
  if (text.weights.size() != text.tokens.size())
    throw Error(fmt::format("a text of {} tokens has {} weights", text.tokens.size(), text.weights.size()));
  if (!text.allowed.empty() && text.allowed.size() != text.tokens.size())
    throw Error(fmt::format("a text of {} tokens has {} masks", text.tokens.size(), text.allowed.size()));
}

}  // namespace

AllowedByRow AllowedByRow::part(std::int64_t first, std::int64_t count) const {
  return defined() ? AllowedByRow{masks, rows.narrow(0, first, count)} : AllowedByRow{};
}

TrainingBatch pack_training_texts(std::span<const TrainingText> texts, at::Device device) {
  std::vector<std::vector<std::int32_t>> sequences;
  std::vector<std::int64_t> rows, targets;
  std::vector<float> weights;
  std::vector<std::int32_t> mask_numbers;
  MaskTable masks;
  std::int64_t first = 0;
  for (const TrainingText& text : texts) {
    check_lengths(text);
    for (std::size_t i = 1; i < text.tokens.size(); ++i)
      if (text.weights[i] != 0.0F) {
        rows.push_back(first + static_cast<std::int64_t>(i) - 1);
        targets.push_back(text.tokens[i]);
        weights.push_back(text.weights[i]);
        mask_numbers.push_back(text.allowed.empty() ? -1 : masks.number_of(text.allowed[i]));
      }
    sequences.push_back(text.tokens);
    first += static_cast<std::int64_t>(text.tokens.size());
  }
  PackedTokens tokens = pack_tokens(sequences, device);
  if (rows.empty()) throw Error("no token of these texts counts: there is nothing to learn");
  TrainingBatch batch{std::move(tokens), uploaded(at::tensor(rows, at::kLong), device),
                      uploaded(at::tensor(targets, at::kLong), device),
                      uploaded(at::tensor(weights, at::kFloat), device)};
  batch.allowed.masks = masks.table(device);
  if (batch.allowed.defined()) batch.allowed.rows = uploaded(at::tensor(mask_numbers, at::kInt), device);
  return batch;
}

}  // namespace cudal1
