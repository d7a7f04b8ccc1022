// What a block of threads has: registers, shared memory, and words of global memory that it changes atomically.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "warp_oracle.hpp"

namespace cudal1::vgpu {

inline constexpr std::size_t word_registers = 8, wide_registers = 2, predicate_registers = 4;
inline constexpr std::size_t bytes_of_place = 16;  //!< every thread has a place of its own in either memory

struct ThreadRegisters {
  std::array<std::uint32_t, word_registers> words{};
  std::array<std::uint64_t, wide_registers> wide{};
  std::array<std::uint32_t, predicate_registers> predicates{};
};

//! Bytes, read and written as PTX does: little-endian.
struct Bytes {
  std::vector<std::uint8_t> bytes;
  std::uint64_t read(std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, size);
    return value;
  }
  void write(std::size_t at, std::size_t size, std::uint64_t value) { std::memcpy(bytes.data() + at, &value, size); }
};

struct BlockState {
  std::vector<ThreadRegisters> threads;
  Bytes shared, global;

  std::size_t warps() const { return threads.size() / 32; }
  ThreadRegisters& thread(std::size_t warp, std::size_t lane) { return threads[warp * 32 + lane]; }
  WarpWords words(std::size_t warp, std::size_t name) {
    WarpWords values{};
    for (std::size_t lane = 0; lane < 32; ++lane) values[lane] = thread(warp, lane).words[name];
    return values;
  }
  void set_words(std::size_t warp, std::size_t name, const WarpWords& values) {
    for (std::size_t lane = 0; lane < 32; ++lane) thread(warp, lane).words[name] = values[lane];
  }
  //! Lanes of a warp where a predicate holds.
  std::uint32_t ballot(std::size_t warp, std::size_t predicate) {
    std::uint32_t mask = 0;
    for (std::size_t lane = 0; lane < 32; ++lane) mask |= (thread(warp, lane).predicates[predicate] & 1u) << lane;
    return mask;
  }
};

}  // namespace cudal1::vgpu
