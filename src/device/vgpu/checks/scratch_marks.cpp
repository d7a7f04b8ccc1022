#include "device/vgpu/checks/scratch_marks.hpp"

#include <algorithm>

namespace cudal1::vgpu {

ScratchMarks::Range::Range(std::uint64_t begin, std::uint64_t bytes)
    : begin_(begin),
      bytes_(bytes),
      words_(std::make_unique<std::atomic<std::uint64_t>[]>(bytes / bytes_per_mark_word + 2)),
      missing_(bytes) {}

//! Words begin at multiples of 64 in the address space, so that no access lies in two of them.
std::atomic<std::uint64_t>& ScratchMarks::Range::word(std::uint64_t address) const {
  return words_[address / bytes_per_mark_word - begin_ / bytes_per_mark_word];
}

void ScratchMarks::Range::set(std::uint64_t address, std::uint32_t bytes) {
  set_bits(address, mark_bits(address, bytes));
}

void ScratchMarks::Range::set_range(std::uint64_t begin, std::uint64_t bytes) {
  for_each_mark_word(begin, bytes, [&](std::uint64_t address, std::uint64_t bits) { set_bits(address, bits); });
}

void ScratchMarks::Range::set_bits(std::uint64_t address, std::uint64_t bits) {
  if ((word(address).load(std::memory_order_relaxed) & bits) == bits) return;
  const std::uint64_t before = word(address).fetch_or(bits, std::memory_order_relaxed);
  missing_.fetch_sub(static_cast<std::uint64_t>(std::popcount(bits & ~before)), std::memory_order_relaxed);
}

std::uint64_t ScratchMarks::Range::missing(std::uint64_t address, std::uint32_t bytes) const {
  return mark_bits(address, bytes) & ~word(address).load(std::memory_order_relaxed);
}

void ScratchMarks::add_uninitialised(std::uint64_t begin, std::uint64_t bytes) {
  std::erase_if(ranges_, [&](const Range& range) { return range.holds(begin); });
  ranges_.emplace_back(begin, bytes);
}

void ScratchMarks::set_written(std::uint64_t begin, std::uint64_t bytes) {
  for (std::uint64_t address = begin; address < begin + bytes; ++address)
    if (Range* range = find(address)) range->set(address, 1);
}

bool ScratchMarks::may_miss(std::uint64_t begin, std::uint64_t end) const {
  return std::ranges::any_of(ranges_, [&](const Range& range) { return range.meets(begin, end) && !range.complete(); });
}

ScratchMarks::Range* ScratchMarks::find(std::uint64_t address) {
  for (Range& range : ranges_)
    if (range.holds(address)) return &range;
  return nullptr;
}

}  // namespace cudal1::vgpu
