#include "model/model_weights.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/result.hpp"
#include "model/files/block_decoders.hpp"
#include "model/files/half_floats.hpp"

namespace cudal1 {
namespace {

struct BlockFormat {
  std::string_view name;
  std::size_t elements, bytes;
  void (*decode)(const std::byte* block, float* values);
};

void decode_f32(const std::byte* bytes, float* value) { std::memcpy(value, bytes, sizeof *value); }

template <float (*convert)(std::uint16_t)>
void decode_16_bits(const std::byte* bytes, float* value) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  *value = convert(bits);
}

// By WeightType.
constexpr BlockFormat formats[] = {{"F32", 1, 4, decode_f32},
                                   {"F16", 1, 2, decode_16_bits<float_of_f16>},
                                   {"BF16", 1, 2, decode_16_bits<float_of_bf16>},
                                   {"Q8_0", 32, 34, decode_q8_0},
                                   {"Q4_0", 32, 18, decode_q4_0},
                                   {"Q4_1", 32, 20, decode_q4_1},
                                   {"Q5_0", 32, 22, decode_q5_0},
                                   {"Q5_1", 32, 24, decode_q5_1},
                                   {"Q4_K", 256, 144, decode_q4_k},
                                   {"Q5_K", 256, 176, decode_q5_k},
                                   {"Q6_K", 256, 210, decode_q6_k}};

const BlockFormat& format_of(WeightType type) { return formats[static_cast<std::size_t>(type)]; }

//! Knowing the function at compile time, the loop becomes vector code: an element is no place for a call.
template <void (*decode)(const std::byte*, float*), std::size_t bytes_each>
void decode_elements(std::span<const std::byte> bytes, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) decode(bytes.data() + i * bytes_each, &values[i]);
}

void decode_blocks(const BlockFormat& format, std::span<const std::byte> bytes, std::span<float> values) {
  for (std::size_t block = 0; block * format.elements < values.size(); ++block)
    format.decode(bytes.data() + block * format.bytes, values.data() + block * format.elements);
}

}  // namespace

std::string_view to_string(WeightType type) { return format_of(type).name; }
std::size_t elements_per_block(WeightType type) { return format_of(type).elements; }
std::size_t bytes_per_block(WeightType type) { return format_of(type).bytes; }

std::int64_t WeightTensor::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

void dequantise(const WeightTensor& tensor, std::span<float> values) {
  const BlockFormat& format = format_of(tensor.type);
  const auto elements = static_cast<std::size_t>(tensor.elements());
  if (values.size() != elements || elements % format.elements != 0 ||
      tensor.bytes.size() != elements / format.elements * format.bytes)
    throw Error(fmt::format("a tensor of {} elements of type {} with {} bytes cannot become {} values", elements,
                            format.name, tensor.bytes.size(), values.size()));
  if (tensor.type == WeightType::f32) {
    if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  } else if (tensor.type == WeightType::f16) {
    decode_elements<decode_16_bits<float_of_f16>, 2>(tensor.bytes, values);
  } else if (tensor.type == WeightType::bf16) {
    decode_elements<decode_16_bits<float_of_bf16>, 2>(tensor.bytes, values);
  } else {
    decode_blocks(format, tensor.bytes, values);
  }
}

}  // namespace cudal1
