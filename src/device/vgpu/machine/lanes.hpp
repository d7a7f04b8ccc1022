// How a warp keeps its registers: 32 lanes side by side, so that the host's vector unit works on all of them at once.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace cudal1::vgpu {

inline constexpr int warp_size = 32;

//! One bit a lane.
using Mask = std::uint32_t;
inline constexpr Mask full_mask = ~Mask{0};

inline constexpr std::array<Mask, warp_size> lane_bits = [] {
  std::array<Mask, warp_size> bits{};
  for (int i = 0; i < warp_size; ++i) bits[static_cast<std::size_t>(i)] = Mask{1} << i;
  return bits;
}();

//! Mostly it is all of them; counting bits is a call of a function where the host's processor is not known.
inline int lanes_in(Mask mask) { return mask == full_mask ? warp_size : mask == 0 ? 0 : std::popcount(mask); }

template <class Visit>
void for_each_lane(Mask mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

//! What a register of type T takes in a lane: 16-bit ones take 32 bits, their upper half zero.
template <class T>
using WordOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
T from_word(WordOf<T> word) {
  if constexpr (sizeof(T) == sizeof(WordOf<T>))
    return std::bit_cast<T>(word);
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(static_cast<std::uint16_t>(word));
  else
    return std::bit_cast<T>(static_cast<std::uint8_t>(word));
}

template <class T>
WordOf<T> to_word(T value) {
  if constexpr (sizeof(T) == sizeof(WordOf<T>))
    return std::bit_cast<WordOf<T>>(value);
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<std::uint16_t>(value);
  else
    return std::bit_cast<std::uint8_t>(value);
}

//! Where a register lies among those of its warp: an offset in bytes.
using Slot = std::uint32_t;

//! Registers of one warp. Predicates are a Mask each.
class Registers {
 public:
  explicit Registers(std::size_t bytes) : storage_(bytes / sizeof(Line) + 1) {}

  template <class Word>
  Word* words(Slot slot) {
    return reinterpret_cast<Word*>(reinterpret_cast<std::byte*>(storage_.data()) + slot);
  }
  Mask& predicate(Slot slot) { return *words<Mask>(slot); }
  //! From this one on they become zero.
  void clear(Slot slot, std::size_t bytes) { std::memset(words<std::byte>(slot), 0, bytes); }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> storage_;
};

}  // namespace cudal1::vgpu
