// The loops that a decoder on the CPU spends its time in. They are compiled for several instruction sets from one
// source; whichever runs, an element of a result is computed by the same operations in the same order however many rows
// are computed beside it, so a sample does not depend on its neighbours.
#pragma once

#include <cstdint>

namespace cudal1 {

//! How a matrix lies in memory; blocks are 32 columns of one row.
enum class MatrixStorage {
  f32,
  bf16,
  f16,
  q8,  //!< a block is 32 signed bytes and a scale
  q4,  //!< a block is 16 bytes (low halves are columns 0 to 15), a scale and a minimum: scale * level + minimum
};

//! A matrix whose rows are whole blocks; columns past the last are zero.
struct MatrixView {
  MatrixStorage storage = MatrixStorage::f32;
  std::int64_t rows = 0, blocks = 0;  //!< blocks in a row
  const void* values = nullptr;       //!< row after row
  const float* scales = nullptr;      //!< (rows, blocks) for q8, (rows, blocks, 2) with the minimum for q4
};

//! Vectors are padded with zeros to whole blocks: 32 for products, 16 elsewhere.
struct CpuKernels {
  const char* name;  //!< "avx512", "avx2", "base"

  //! out[x_row * out_stride + row] = matrix row * x row, for matrix rows [first, last)
  void (*product)(const MatrixView& matrix, std::int64_t first, std::int64_t last, const float* x,
                  std::int64_t x_stride, std::int64_t x_rows, float* out, std::int64_t out_stride);

  //! x / rms(x) * weight; `size` counts towards the mean, `padded` is a multiple of 16
  void (*rms_norm)(const float* x, const float* weight, std::int64_t size, std::int64_t padded, float epsilon,
                   float* out);

  //! gate = silu(gate) * up
  void (*gate)(float* gate, const float* up, std::int64_t padded);

  //! Attention of `group` query heads (group, size) over `length` keys and values (length, size) of one head;
  //! scores is scratch of (group, length). out (group, size).
  void (*attend)(const float* query, const float* keys, const float* values, std::int64_t length, std::int64_t group,
                 std::int64_t size, float scale, float* scores, float* out);
};

//! The best that this machine runs.
const CpuKernels& cpu_kernels();

namespace kernels_base {
extern const CpuKernels kernels;
}
namespace kernels_avx2 {
extern const CpuKernels kernels;
}
namespace kernels_avx512 {
extern const CpuKernels kernels;
}

}  // namespace cudal1
