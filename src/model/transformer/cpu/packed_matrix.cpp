#include "model/transformer/cpu/packed_matrix.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <vector>

#include "base/result.hpp"
#include "model/files/half_floats.hpp"

namespace cudal1 {
namespace {

float half_value(const std::byte* from) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return float_of_f16(bits);
}

std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);  // to nearest, ties to even
}

//! To nearest, ties to even; what is too large becomes the largest.
std::uint16_t f16_bits(float value) {
  const auto sign = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U & 0x8000U);
  const float size = value < 0.0F ? -value : value;
  if (size >= 65504.0F) return static_cast<std::uint16_t>(sign | 0x7bffU);
  if (size < 0x1p-14F)
    return static_cast<std::uint16_t>(
        sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(size + 0.5F) -
                                          std::bit_cast<std::uint32_t>(0.5F)));  // steps of 2^-24
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(size) - (112U << 23U);
  return static_cast<std::uint16_t>(sign | ((bits + 0xfffU + ((bits >> 13U) & 1U)) >> 13U));
}

MatrixStorage storage_for(WeightType type, std::int64_t columns, CpuWeights weights) {
  if (weights == CpuWeights::f32) return MatrixStorage::f32;
  if (weights == CpuWeights::bf16) return MatrixStorage::bf16;
  if (weights == CpuWeights::f16) return MatrixStorage::f16;
  if (type == WeightType::f32) return MatrixStorage::f32;
  if (type == WeightType::f16) return MatrixStorage::f16;
  if (columns % 32 != 0) return MatrixStorage::bf16;
  if (type == WeightType::q8_0) return MatrixStorage::q8;
  if (type == WeightType::q4_0 || type == WeightType::q4_1) return MatrixStorage::q4;
  return MatrixStorage::bf16;
}

}  // namespace

PackedMatrix::PackedMatrix(const WeightTensor& tensor, CpuWeights weights)
    : rows_(tensor.shape.at(0)),
      columns_(tensor.shape.at(1)),
      blocks_(whole_blocks(columns_) / 32),
      storage_(storage_for(tensor.type, columns_, weights)) {
  const std::size_t block_bytes = tensor.type == WeightType::q8_0 ? 34 : tensor.type == WeightType::q4_1 ? 20 : 18;
  if ((storage_ == MatrixStorage::q4 || storage_ == MatrixStorage::q8) &&
      tensor.bytes.size() != static_cast<std::size_t>(rows_ * blocks_) * block_bytes)
    throw Error(fmt::format("a matrix of {} by {} has {} bytes in the file; fetch the model again", rows_, columns_,
                            tensor.bytes.size()));
  if (storage_ == MatrixStorage::q4)
    pack_blocks_of_4(tensor);
  else if (storage_ == MatrixStorage::q8)
    pack_blocks_of_8(tensor);
  else
    pack_dense(tensor);
}

void PackedMatrix::pack_blocks_of_4(const WeightTensor& tensor) {
  const bool has_minimum = tensor.type == WeightType::q4_1;
  const std::size_t header = has_minimum ? 4 : 2, count = static_cast<std::size_t>(rows_ * blocks_);
  values_.resize(count * 16);
  scales_.resize(count * 2);
  for (std::size_t block = 0; block < count; ++block) {
    const std::byte* from = tensor.bytes.data() + block * (header + 16);
    const float scale = half_value(from);
    scales_[block * 2] = scale;
    scales_[block * 2 + 1] = has_minimum ? half_value(from + 2) : -8.0F * scale;
    std::memcpy(values_.data() + block * 16, from + header, 16);
  }
}

void PackedMatrix::pack_blocks_of_8(const WeightTensor& tensor) {
  const auto count = static_cast<std::size_t>(rows_ * blocks_);
  values_.resize(count * 32);
  scales_.resize(count);
  for (std::size_t block = 0; block < count; ++block) {
    const std::byte* from = tensor.bytes.data() + block * 34;
    scales_[block] = half_value(from);
    std::memcpy(values_.data() + block * 32, from + 2, 32);
  }
}

void PackedMatrix::pack_dense(const WeightTensor& tensor) {
  std::vector<float> all(static_cast<std::size_t>(rows_ * columns_));
  dequantise(tensor, all);
  const std::size_t element = storage_ == MatrixStorage::f32 ? 4 : 2;
  values_.resize(static_cast<std::size_t>(rows_ * blocks_ * 32) * element);
  for (std::int64_t row = 0; row < rows_; ++row)
    for (std::int64_t column = 0; column < columns_; ++column) {
      const float value = all[static_cast<std::size_t>(row * columns_ + column)];
      std::byte* to = values_.data() + static_cast<std::size_t>(row * blocks_ * 32 + column) * element;
      const std::uint16_t narrow = storage_ == MatrixStorage::f16 ? f16_bits(value) : bf16_bits(value);
      if (storage_ == MatrixStorage::f32)
        std::memcpy(to, &value, 4);
      else
        std::memcpy(to, &narrow, 2);
    }
}

MatrixView PackedMatrix::view() const { return {storage_, rows_, blocks_, values_.data(), scales_.data()}; }

void PackedMatrix::read_row(std::int64_t row, std::span<float> values) const {
  for (std::int64_t column = 0; column < columns_; ++column) {
    const auto place = static_cast<std::size_t>(row * blocks_ * 32 + column), block = place / 32, within = place % 32;
    float& value = values[static_cast<std::size_t>(column)];
    std::uint16_t narrow = 0;
    if (storage_ == MatrixStorage::f32) {
      std::memcpy(&value, values_.data() + place * 4, 4);
    } else if (storage_ == MatrixStorage::bf16) {
      std::memcpy(&narrow, values_.data() + place * 2, 2);
      value = float_of_bf16(narrow);
    } else if (storage_ == MatrixStorage::f16) {
      value = half_value(values_.data() + place * 2);
    } else if (storage_ == MatrixStorage::q8) {
      value = scales_[block] * static_cast<float>(static_cast<std::int8_t>(values_[place]));
    } else {
      const auto pair = static_cast<unsigned>(values_[block * 16 + within % 16]);
      const auto level = static_cast<int>(within < 16 ? pair & 15U : pair >> 4U);
      value = scales_[block * 2] * static_cast<float>(level) + scales_[block * 2 + 1];
    }
  }
}

}  // namespace cudal1
