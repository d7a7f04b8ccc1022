// A weight matrix in the form that the CPU's products read.
#pragma once

#include <cstdint>
#include <span>

#include "model/model_weights.hpp"
#include "model/transformer/cpu/aligned_vector.hpp"
#include "model/transformer/cpu/cpu_kernels.hpp"

namespace cudal1 {

//! What weights become in memory.
enum class CpuWeights {
  as_file,  //!< q4_0, q4_1, q8_0, f32, f16 and bf16 as they are, other blocks as bf16
  f32,
  bf16,
  f16,
};

class PackedMatrix {
 public:
  PackedMatrix(const WeightTensor& tensor, CpuWeights weights);  //!< a tensor of (rows, columns)

  MatrixView view() const;
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::size_t bytes() const { return values_.size() + scales_.size() * sizeof(float); }
  //! One row as floats, `columns()` of them.
  void read_row(std::int64_t row, std::span<float> values) const;

 private:
  void pack_blocks_of_4(const WeightTensor& tensor);
  void pack_blocks_of_8(const WeightTensor& tensor);
  void pack_dense(const WeightTensor& tensor);

  std::int64_t rows_ = 0, columns_ = 0, blocks_ = 0;
  MatrixStorage storage_ = MatrixStorage::f32;
  AlignedVector<std::byte> values_;
  AlignedVector<float> scales_;
};

//! The next multiple of 32: vectors that products read are padded with zeros to whole blocks.
inline std::int64_t whole_blocks(std::int64_t columns) { return (columns + 31) / 32 * 32; }

}  // namespace cudal1
