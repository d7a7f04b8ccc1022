// A number for a state, to see whether it has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace cudal1::vgpu {

class Fingerprint {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15u;
    value_ ^= value_ >> 32;
  }
  void add(std::span<const std::byte> bytes) {
    add(bytes.size());
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) add(word_of(bytes.first(8)));
    if (!bytes.empty()) add(word_of(bytes));
  }
  std::uint64_t value() const { return value_; }

 private:
  static std::uint64_t word_of(std::span<const std::byte> bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    return word;
  }
  std::uint64_t value_ = 0;
};

}  // namespace cudal1::vgpu
