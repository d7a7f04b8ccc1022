// Texts to learn from, and which of them a process computes, and which together. No tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "train/parallel/process_group.hpp"
#include "train/training_text.hpp"

namespace cudal1 {

//! An answer behind its prompt, in which no token counts yet.
TrainingText text_of(const std::vector<std::int32_t>& prompt, const std::vector<std::int32_t>& answer);

std::int64_t all_tokens(std::span<const TrainingText> texts);

//! Where texts begin that are computed together, and how many they are: as many as have so many tokens, at least one.
std::vector<std::pair<std::size_t, std::size_t>> parts_of(std::span<const TrainingText> texts,
                                                          std::int64_t tokens_at_once);

//! The places of those texts that this process computes. One of which no token counts has no gradients. Throws Error
//! where that is so of all.
std::vector<std::size_t> own_share(std::span<const TrainingText> texts, const ProcessGroup& group);

template <class Item>
std::vector<Item> those_at(const std::vector<std::size_t>& places, std::span<const Item> all) {
  std::vector<Item> those;
  for (const std::size_t place : places) those.push_back(all[place]);
  return those;
}

}  // namespace cudal1
