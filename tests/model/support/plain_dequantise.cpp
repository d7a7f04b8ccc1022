// Stands in for the library of model files where that is not part of the build: the types that these tests use.
#include <bit>
#include <cmath>
#include <cstring>

#include "base/result.hpp"
#include "model/model_weights.hpp"

namespace cudal1 {
namespace {

float half_value(const std::byte* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, 2);
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return static_cast<float>(bits & 0x8000 ? -size : size);
}

void dequantise_block(WeightType type, const std::byte* block, float* values) {
  const float scale = half_value(block);
  for (int i = 0; i < 32; ++i) {
    if (type == WeightType::q8_0) {
      values[i] = scale * static_cast<float>(static_cast<std::int8_t>(block[2 + i]));
      continue;
    }
    const auto pair = static_cast<unsigned>(block[(type == WeightType::q4_0 ? 2 : 4) + i % 16]);
    const auto level = static_cast<int>(i < 16 ? pair & 15U : pair >> 4U);
    values[i] = type == WeightType::q4_0 ? scale * static_cast<float>(level - 8)
                                         : scale * static_cast<float>(level) + half_value(block + 2);
  }
}

}  // namespace

std::int64_t WeightTensor::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

void dequantise(const WeightTensor& tensor, std::span<float> values) {
  if (tensor.type == WeightType::f32) {
    std::memcpy(values.data(), tensor.bytes.data(), values.size_bytes());
    return;
  }
  const std::size_t block_bytes = tensor.type == WeightType::q8_0   ? 34
                                  : tensor.type == WeightType::q4_0 ? 18
                                  : tensor.type == WeightType::q4_1 ? 20
                                                                    : 0;
  if (block_bytes == 0) throw Error("these tests do not read weights of this type");
  for (std::size_t block = 0; block < values.size() / 32; ++block)
    dequantise_block(tensor.type, tensor.bytes.data() + block * block_bytes, values.data() + block * 32);
}

}  // namespace cudal1
