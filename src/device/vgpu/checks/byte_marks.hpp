// One bit for each byte of a memory: whether something was written there.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace cudal1::vgpu {

inline constexpr std::uint64_t bytes_per_mark_word = 64;

//! The bits of an access in the word of its address: accesses are aligned and have at most 16 bytes.
constexpr std::uint64_t mark_bits(std::uint64_t address, std::uint32_t bytes) {
  return ((std::uint64_t{1} << bytes) - 1) << address % bytes_per_mark_word;
}

//! Of the bytes that an access misses those of elements that miss all of theirs: what was written in part holds
//! padding.
constexpr std::uint64_t bare_elements(std::uint64_t missing, std::uint64_t address, std::uint32_t bytes,
                                      std::uint32_t element_bytes) {
  if (element_bytes == 1) return missing;
  std::uint64_t bare = 0;
  for (std::uint32_t i = 0; i < bytes; i += element_bytes)
    if (const std::uint64_t element = mark_bits(address + i, element_bytes); (missing & element) == element)
      bare |= element;
  return bare;
}

//! visit(address, bits) for each word that so many bytes from an address on lie in.
template <class Visit>
void for_each_mark_word(std::uint64_t begin, std::uint64_t bytes, Visit visit) {
  for (const std::uint64_t end = begin + bytes; begin < end;) {
    const std::uint64_t first = begin % bytes_per_mark_word, count = std::min(bytes_per_mark_word - first, end - begin);
    visit(begin, (~std::uint64_t{0} >> (bytes_per_mark_word - count)) << first);
    begin += count;
  }
}

class ByteMarks {
 public:
  explicit ByteMarks(std::uint64_t bytes)
      : words_((bytes + bytes_per_mark_word - 1) / bytes_per_mark_word), missing_(bytes) {}

  void set(std::uint64_t address, std::uint32_t bytes) {
    std::uint64_t& word = words_[address / bytes_per_mark_word];
    const std::uint64_t bits = mark_bits(address, bytes) & ~word;
    word |= bits;
    missing_ -= static_cast<std::uint64_t>(std::popcount(bits));
  }
  void set_range(std::uint64_t begin, std::uint64_t bytes) {
    for_each_mark_word(begin, bytes, [&](std::uint64_t address, std::uint64_t bits) {
      std::uint64_t& word = words_[address / bytes_per_mark_word];
      missing_ -= static_cast<std::uint64_t>(std::popcount(bits & ~word));
      word |= bits;
    });
  }
  //! Those of the access's bits that are not set.
  std::uint64_t missing(std::uint64_t address, std::uint32_t bytes) const {
    return mark_bits(address, bytes) & ~words_[address / bytes_per_mark_word];
  }
  bool has_range(std::uint64_t begin, std::uint64_t bytes) const {
    std::uint64_t missing = 0;
    for_each_mark_word(begin, bytes, [&](std::uint64_t address, std::uint64_t bits) {
      missing |= bits & ~words_[address / bytes_per_mark_word];
    });
    return missing == 0;
  }
  bool complete() const { return missing_ == 0; }

 private:
  std::vector<std::uint64_t> words_;
  std::uint64_t missing_;  // bytes
};

}  // namespace cudal1::vgpu
