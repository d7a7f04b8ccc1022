#include "model/files/block_decoders.hpp"

#include <cstdint>
#include <cstring>

#include "model/files/half_floats.hpp"

namespace cudal1 {
namespace {

constexpr int half_block = 16;  // of 32 elements: low nibbles are the first half, high nibbles the second
constexpr int sub_block = 32;   // of 256 elements: eight of these share a scale (16 in q6_k)

template <class T>
T read(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

float read_f16(const std::byte* bytes) { return float_of_f16(read<std::uint16_t>(bytes)); }
int byte_at(const std::byte* bytes, int index) { return std::to_integer<int>(bytes[index]); }
float as_float(int value) { return static_cast<float>(value); }

//! The six-bit scale and minimum of sub-block `r` of q4_k and q5_k. Of the twelve bytes the first four end in the
//! scales of sub-blocks 0 to 3, the next four in their minima; their upper two bits go on top of the nibbles of the
//! last four.
struct ScaleAndMinimum {
  int scale, minimum;
};

ScaleAndMinimum scale_and_minimum(const std::byte* packed, int r) {
  if (r < 4) return {byte_at(packed, r) & 63, byte_at(packed, r + 4) & 63};
  const int nibbles = byte_at(packed, r + 4);
  return {(nibbles & 15) | ((byte_at(packed, r - 4) >> 6) << 4), (nibbles >> 4) | ((byte_at(packed, r) >> 6) << 4)};
}

}  // namespace

void decode_q8_0(const std::byte* block, float* values) {
  const float scale = read_f16(block);
  for (int i = 0; i < 2 * half_block; ++i) values[i] = as_float(static_cast<std::int8_t>(block[2 + i])) * scale;
}

void decode_q4_0(const std::byte* block, float* values) {
  const float scale = read_f16(block);
  for (int i = 0; i < half_block; ++i) {
    const int pair = byte_at(block + 2, i);
    values[i] = as_float((pair & 15) - 8) * scale;
    values[i + half_block] = as_float((pair >> 4) - 8) * scale;
  }
}

void decode_q4_1(const std::byte* block, float* values) {
  const float scale = read_f16(block), minimum = read_f16(block + 2);
  for (int i = 0; i < half_block; ++i) {
    const int pair = byte_at(block + 4, i);
    values[i] = as_float(pair & 15) * scale + minimum;
    values[i + half_block] = as_float(pair >> 4) * scale + minimum;
  }
}

void decode_q5_0(const std::byte* block, float* values) {
  const float scale = read_f16(block);
  const auto fifth_bits = read<std::uint32_t>(block + 2);
  for (int i = 0; i < half_block; ++i) {
    const int pair = byte_at(block + 6, i);
    const int low_fifth = static_cast<int>(fifth_bits >> i) & 1;
    const int high_fifth = static_cast<int>(fifth_bits >> (i + half_block)) & 1;
    values[i] = as_float(((pair & 15) | (low_fifth << 4)) - 16) * scale;
    values[i + half_block] = as_float(((pair >> 4) | (high_fifth << 4)) - 16) * scale;
  }
}

void decode_q5_1(const std::byte* block, float* values) {
  const float scale = read_f16(block), minimum = read_f16(block + 2);
  const auto fifth_bits = read<std::uint32_t>(block + 4);
  for (int i = 0; i < half_block; ++i) {
    const int pair = byte_at(block + 8, i);
    const int low_fifth = static_cast<int>(fifth_bits >> i) & 1;
    const int high_fifth = static_cast<int>(fifth_bits >> (i + half_block)) & 1;
    values[i] = as_float((pair & 15) | (low_fifth << 4)) * scale + minimum;
    values[i + half_block] = as_float((pair >> 4) | (high_fifth << 4)) * scale + minimum;
  }
}

// (scale, scale of the minima: f16; 12 bytes of scales; 128 bytes of nibbles)
void decode_q4_k(const std::byte* block, float* values) {
  const float scale = read_f16(block), minimum_scale = read_f16(block + 2);
  const std::byte* nibbles = block + 16;
  for (int r = 0; r < 8; ++r) {
    const ScaleAndMinimum own = scale_and_minimum(block + 4, r);
    const float step = scale * as_float(own.scale), minimum = minimum_scale * as_float(own.minimum);
    for (int i = 0; i < sub_block; ++i) {
      const int low = (byte_at(nibbles, r / 2 * sub_block + i) >> (4 * (r % 2))) & 15;
      values[r * sub_block + i] = as_float(low) * step - minimum;
    }
  }
}

// As q4_k, with 32 bytes of fifth bits before the nibbles: bit r of byte i belongs to element i of sub-block r.
void decode_q5_k(const std::byte* block, float* values) {
  const float scale = read_f16(block), minimum_scale = read_f16(block + 2);
  const std::byte *fifth_bits = block + 16, *nibbles = block + 48;
  for (int r = 0; r < 8; ++r) {
    const ScaleAndMinimum own = scale_and_minimum(block + 4, r);
    const float step = scale * as_float(own.scale), minimum = minimum_scale * as_float(own.minimum);
    for (int i = 0; i < sub_block; ++i) {
      const int low = (byte_at(nibbles, r / 2 * sub_block + i) >> (4 * (r % 2))) & 15;
      const int fifth = (byte_at(fifth_bits, i) >> r) & 1;
      values[r * sub_block + i] = as_float(low | (fifth << 4)) * step - minimum;
    }
  }
}

// (128 bytes of low nibbles, 64 bytes of upper bit pairs, 16 signed scales, scale: f16). Each half of 128 elements has
// 64 bytes of nibbles (their low halves are its first two sub-blocks) and 32 bytes with a pair for each sub-block.
void decode_q6_k(const std::byte* block, float* values) {
  const float scale = read_f16(block + 208);
  for (int r = 0; r < 8; ++r) {
    const int half = r / 4, quarter = r % 4;
    const std::byte* nibbles = block + 64 * half + sub_block * (quarter % 2);
    const std::byte* pairs = block + 128 + sub_block * half;
    for (int i = 0; i < sub_block; ++i) {
      const int low = (byte_at(nibbles, i) >> (4 * (quarter / 2))) & 15;
      const int high = (byte_at(pairs, i) >> (2 * quarter)) & 3;
      const float step = scale * as_float(static_cast<std::int8_t>(block[192 + 2 * r + i / 16]));
      values[r * sub_block + i] = as_float((low | (high << 4)) - 32) * step;
    }
  }
}

}  // namespace cudal1
