// Compiled once for each instruction set, in a namespace of its own (CMakeLists.txt). Includes nothing with inline
// functions but intrinsics: the linker could take one compiled for another machine for the whole program.
#include "model/transformer/cpu/cpu_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cudal1::CUDAL1_KERNEL_NAMESPACE {
namespace {

constexpr int lanes = 16;
typedef float Floats __attribute__((vector_size(64)));
typedef std::int32_t Ints __attribute__((vector_size(64)));
typedef std::uint32_t Words __attribute__((vector_size(64)));
typedef std::uint16_t Halves __attribute__((vector_size(32)));
typedef std::int8_t Bytes __attribute__((vector_size(16)));
typedef std::uint8_t UnsignedBytes __attribute__((vector_size(16)));

template <class Vector>
inline Vector load(const void* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

inline void store(float* to, Floats vector) { __builtin_memcpy(to, &vector, sizeof vector); }

template <class To, class From>
inline To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

//! The two halves of the lanes, then of what is left: the same order everywhere.
inline float sum(Floats x) {
  const auto eight = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

//! e^x to about 1e-7 of it, 0 below -87: 2^n times a polynomial of what is left.
inline Floats exponential(Floats x) {
  const Floats lowest = Floats{} - 87.0F, highest = Floats{} + 88.0F;
  const Ints vanishes = x < lowest;
  x = x < lowest ? lowest : x;
  x = x > highest ? highest : x;
  const Floats scaled = x * 1.44269504F;
  const Ints whole = __builtin_convertvector(scaled + (scaled < 0.0F ? Floats{} - 0.5F : Floats{} + 0.5F), Ints);
  const Floats turns = __builtin_convertvector(whole, Floats);
  const Floats rest = (x - turns * 0.693359375F) + turns * 2.12194440e-4F;  // ln 2 in two parts
  Floats value = Floats{} + 1.0F / 5040.0F;
  constexpr float factors[] = {1.0F / 720.0F, 1.0F / 120.0F, 1.0F / 24.0F, 1.0F / 6.0F, 0.5F, 1.0F, 1.0F};
  for (const float factor : factors) value = value * rest + factor;
  const Floats power = same_bits<Floats>((whole + 127) << 23);
  return vanishes ? Floats{} : value * power;
}

struct Block {
  Floats low, high;  //!< columns 0 to 15 and 16 to 31
};

// Readers of one row: operator() gives a block as floats.

struct ReadF32 {
  const float* row;
  void open(const MatrixView& matrix, std::int64_t index) {
    row = static_cast<const float*>(matrix.values) + index * matrix.blocks * 32;
  }
  Block operator()(std::int64_t block) const {
    return {load<Floats>(row + block * 32), load<Floats>(row + block * 32 + lanes)};
  }
};

struct ReadBf16 {
  const std::uint16_t* row;
  void open(const MatrixView& matrix, std::int64_t index) {
    row = static_cast<const std::uint16_t*>(matrix.values) + index * matrix.blocks * 32;
  }
  static Floats widen(const std::uint16_t* from) {
    return same_bits<Floats>(__builtin_convertvector(load<Halves>(from), Words) << 16);
  }
  Block operator()(std::int64_t block) const { return {widen(row + block * 32), widen(row + block * 32 + lanes)}; }
};

struct ReadF16 {
  const std::uint16_t* row;
  void open(const MatrixView& matrix, std::int64_t index) {
    row = static_cast<const std::uint16_t*>(matrix.values) + index * matrix.blocks * 32;
  }
  //! Exponent and mantissa moved to where fp32 has them, times 2^112 for the other bias; weights are finite.
  static Floats widen(const std::uint16_t* from) {
    const Words bits = __builtin_convertvector(load<Halves>(from), Words);
    const Floats size = same_bits<Floats>((bits & 0x7fff) << 13) * 0x1p112F;
    return same_bits<Floats>(same_bits<Words>(size) | ((bits & 0x8000) << 16));
  }
  Block operator()(std::int64_t block) const { return {widen(row + block * 32), widen(row + block * 32 + lanes)}; }
};

//! Compilers take the bytes apart one by one where they are not told the instruction.
inline Floats as_floats(Bytes bytes) {
#if defined(__AVX512F__)
  // with a mask of all: g++ 12 warns of its own header otherwise
  return __builtin_convertvector(same_bits<Ints>(_mm512_maskz_cvtepi8_epi32(0xffff, same_bits<__m128i>(bytes))),
                                 Floats);
#elif defined(__AVX2__)
  const __m128i all = same_bits<__m128i>(bytes);
  const __m256 halves[] = {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(all)),
                           _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(all, 8)))};
  return load<Floats>(halves);
#else
  return __builtin_convertvector(__builtin_convertvector(bytes, Ints), Floats);
#endif
}

struct ReadQ8 {
  const std::int8_t* row;
  const float* scales;
  void open(const MatrixView& matrix, std::int64_t index) {
    row = static_cast<const std::int8_t*>(matrix.values) + index * matrix.blocks * 32;
    scales = matrix.scales + index * matrix.blocks;
  }
  Block operator()(std::int64_t block) const {
    const float scale = scales[block];
    return {as_floats(load<Bytes>(row + block * 32)) * scale, as_floats(load<Bytes>(row + block * 32 + lanes)) * scale};
  }
};

struct ReadQ4 {
  const std::uint8_t* row;
  const float* scales;
  void open(const MatrixView& matrix, std::int64_t index) {
    row = static_cast<const std::uint8_t*>(matrix.values) + index * matrix.blocks * 16;
    scales = matrix.scales + index * matrix.blocks * 2;
  }
  Block operator()(std::int64_t block) const {
    const float scale = scales[block * 2], minimum = scales[block * 2 + 1];
#if defined(__AVX512F__)
    // The block's sixteen values, then looked up; a look-up reads the lowest four bits of an index.
    const Floats levels = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const __m512 values = same_bits<__m512>(levels * scale + minimum);
    const __m512i pairs = _mm512_maskz_cvtepu8_epi32(0xffff, load<__m128i>(row + block * 16));
    return {same_bits<Floats>(_mm512_maskz_permutexvar_ps(0xffff, pairs, values)),
            same_bits<Floats>(_mm512_maskz_permutexvar_ps(0xffff, _mm512_maskz_srli_epi32(0xffff, pairs, 4), values))};
#else
    const UnsignedBytes pairs = load<UnsignedBytes>(row + block * 16);
    return {as_floats(same_bits<Bytes>(pairs & 15)) * scale + minimum,
            as_floats(same_bits<Bytes>(pairs >> 4)) * scale + minimum};
#endif
  }
};

//! Loads once what several products use: a compiler may prefer to load it again in each of them.
inline Floats in_register(Floats x) {
#if defined(__AVX512F__)
  asm("" : "+v"(x));
#endif
  return x;
}

//! XRows rows of x with WRows rows of the matrix; each sum runs over the blocks in order, in 16 lanes.
template <class Reader, int XRows, int WRows>
inline void tile(const MatrixView& matrix, std::int64_t row, const float* x, std::int64_t x_stride, float* out,
                 std::int64_t out_stride) {
  Reader readers[WRows];
  for (int n = 0; n < WRows; ++n) readers[n].open(matrix, row + n);
  Floats sums[XRows][WRows] = {};
  for (std::int64_t block = 0; block < matrix.blocks; ++block) {
    Block weights[WRows];
    for (int n = 0; n < WRows; ++n) weights[n] = readers[n](block);
    for (int m = 0; m < XRows; ++m) {
      const float* from = x + m * x_stride + block * 32;
      const Floats low = in_register(load<Floats>(from)), high = in_register(load<Floats>(from + lanes));
      for (int n = 0; n < WRows; ++n) sums[m][n] += weights[n].low * low;
      for (int n = 0; n < WRows; ++n) sums[m][n] += weights[n].high * high;
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < XRows; ++m)
#pragma GCC unroll 4
    for (int n = 0; n < WRows; ++n) out[m * out_stride + row + n] = sum(sums[m][n]);  // from registers
}

// As many sums as the registers hold.
#if defined(__AVX512F__)
constexpr int most_x_rows = 8;
constexpr int matrix_rows(int x_rows) { return x_rows == 8 ? 3 : 4; }
#else
constexpr int most_x_rows = 4;
constexpr int matrix_rows(int x_rows) { return x_rows == 4 ? 1 : 2; }
#endif

// Rows of a matrix that are floats for a while, 12 of up to 4,096 columns: 192 KB.
constexpr std::int64_t panel_rows = 12, most_panel_blocks = 128;

template <class Reader, int XRows>
void product_rows(const MatrixView& matrix, std::int64_t first, std::int64_t last, const float* x,
                  std::int64_t x_stride, float* out, std::int64_t out_stride) {
  constexpr int at_once = matrix_rows(XRows);
  std::int64_t row = first;
  for (; row + at_once <= last; row += at_once) tile<Reader, XRows, at_once>(matrix, row, x, x_stride, out, out_stride);
  for (; row < last; ++row) tile<Reader, XRows, 1>(matrix, row, x, x_stride, out, out_stride);
}

//! As many rows of x at once as there are, then half as many, and so on.
template <class Reader, int XRows>
void product_in_steps(const MatrixView& matrix, std::int64_t first, std::int64_t last, const float* x,
                      std::int64_t x_stride, std::int64_t x_rows, float* out, std::int64_t out_stride) {
  for (; x_rows >= XRows; x_rows -= XRows, x += XRows * x_stride, out += XRows * out_stride)
    product_rows<Reader, XRows>(matrix, first, last, x, x_stride, out, out_stride);
  if constexpr (XRows > 1)
    product_in_steps<Reader, XRows / 2>(matrix, first, last, x, x_stride, x_rows, out, out_stride);
}

//! For many rows of x: a few rows of the matrix become floats once for all of them. The values are those that tiles
//! compute from blocks, so the sums are as well.
template <class Reader>
void product_by_panels(const MatrixView& matrix, std::int64_t first, std::int64_t last, const float* x,
                       std::int64_t x_stride, std::int64_t x_rows, float* out, std::int64_t out_stride) {
  alignas(64) float panel[panel_rows * most_panel_blocks * 32];
  for (std::int64_t start = first; start < last; start += panel_rows) {
    const std::int64_t rows = last - start < panel_rows ? last - start : panel_rows;
    for (std::int64_t row = 0; row < rows; ++row) {
      Reader reader;
      reader.open(matrix, start + row);
      for (std::int64_t block = 0; block < matrix.blocks; ++block) {
        const Block values = reader(block);
        store(panel + (row * matrix.blocks + block) * 32, values.low);
        store(panel + (row * matrix.blocks + block) * 32 + lanes, values.high);
      }
    }
    const MatrixView floats = {MatrixStorage::f32, rows, matrix.blocks, panel, nullptr};
    product_in_steps<ReadF32, most_x_rows>(floats, 0, rows, x, x_stride, x_rows, out + start, out_stride);
  }
}

template <class Reader>
void product_of(const MatrixView& matrix, std::int64_t first, std::int64_t last, const float* x, std::int64_t x_stride,
                std::int64_t x_rows, float* out, std::int64_t out_stride) {
  if (x_rows > most_x_rows && matrix.blocks <= most_panel_blocks)
    product_by_panels<Reader>(matrix, first, last, x, x_stride, x_rows, out, out_stride);
  else
    product_in_steps<Reader, most_x_rows>(matrix, first, last, x, x_stride, x_rows, out, out_stride);
}

void product(const MatrixView& matrix, std::int64_t first, std::int64_t last, const float* x, std::int64_t x_stride,
             std::int64_t x_rows, float* out, std::int64_t out_stride) {
  switch (matrix.storage) {
    case MatrixStorage::f32:
      return product_in_steps<ReadF32, most_x_rows>(matrix, first, last, x, x_stride, x_rows, out, out_stride);
    case MatrixStorage::bf16:
      return product_of<ReadBf16>(matrix, first, last, x, x_stride, x_rows, out, out_stride);
    case MatrixStorage::f16:
      return product_of<ReadF16>(matrix, first, last, x, x_stride, x_rows, out, out_stride);
    case MatrixStorage::q8:
      return product_of<ReadQ8>(matrix, first, last, x, x_stride, x_rows, out, out_stride);
    case MatrixStorage::q4:
      return product_of<ReadQ4>(matrix, first, last, x, x_stride, x_rows, out, out_stride);
  }
}

void rms_norm(const float* x, const float* weight, std::int64_t size, std::int64_t padded, float epsilon, float* out) {
  Floats squares = {};
  for (std::int64_t i = 0; i < padded; i += lanes) {
    const Floats part = load<Floats>(x + i);
    squares += part * part;
  }
  const float scale = 1.0F / __builtin_sqrtf(sum(squares) / static_cast<float>(size) + epsilon);
  for (std::int64_t i = 0; i < padded; i += lanes)
    store(out + i, load<Floats>(x + i) * scale * load<Floats>(weight + i));
}

void gate(float* gate, const float* up, std::int64_t padded) {
  for (std::int64_t i = 0; i < padded; i += lanes) {
    const Floats x = load<Floats>(gate + i);
    store(gate + i, x / (1.0F + exponential(-x)) * load<Floats>(up + i));
  }
}

template <int Vectors>
inline float dot(const float* a, const float* b) {
  Floats sums = {};
#pragma GCC unroll 8
  for (int i = 0; i < Vectors; ++i) sums += load<Floats>(a + i * lanes) * load<Floats>(b + i * lanes);
  return sum(sums);
}

//! scores -> e^(score - largest); their sum
float softmax_terms(float* scores, std::int64_t length) {
  float largest = scores[0];
  for (std::int64_t t = 1; t < length; ++t) largest = scores[t] > largest ? scores[t] : largest;
  Floats sums = {};
  std::int64_t t = 0;
  for (; t + lanes <= length; t += lanes) {
    const Floats terms = exponential(load<Floats>(scores + t) - largest);
    store(scores + t, terms);
    sums += terms;
  }
  float total = sum(sums);
  for (; t < length; ++t) {
    scores[t] = exponential(Floats{} + (scores[t] - largest))[0];
    total += scores[t];
  }
  return total;
}

//! out (Vectors * 16) = sum of terms[t] * values[t], over total
template <int Vectors>
inline void weighted_mean(const float* values, const float* terms, std::int64_t length, std::int64_t stride,
                          float total, float* out) {
  Floats sums[Vectors] = {};
  for (std::int64_t t = 0; t < length; ++t)
#pragma GCC unroll 8
    for (int i = 0; i < Vectors; ++i) sums[i] += load<Floats>(values + t * stride + i * lanes) * terms[t];
#pragma GCC unroll 8
  for (int i = 0; i < Vectors; ++i) store(out + i * lanes, sums[i] / total);
}

//! Heads of Vectors * 16 elements.
template <int Vectors>
void attend_heads(const float* query, const float* keys, const float* values, std::int64_t length, std::int64_t group,
                  float scale, float* scores, float* out) {
  constexpr int size = Vectors * lanes, at_once = Vectors % 4 == 0 ? 4 : 1;
  for (std::int64_t t = 0; t < length; ++t)
    for (std::int64_t g = 0; g < group; ++g)
      scores[g * length + t] = scale * dot<Vectors>(query + g * size, keys + t * size);
  for (std::int64_t g = 0; g < group; ++g) {
    const float total = softmax_terms(scores + g * length, length);
    for (int i = 0; i < size; i += at_once * lanes)
      weighted_mean<at_once>(values + i, scores + g * length, length, size, total, out + g * size + i);
  }
}

//! Heads of any size: a vector of elements after the other.
void attend_any(const float* query, const float* keys, const float* values, std::int64_t length, std::int64_t group,
                std::int64_t size, float scale, float* scores, float* out) {
  for (std::int64_t t = 0; t < length; ++t)
    for (std::int64_t g = 0; g < group; ++g) {
      Floats sums = {};
      for (std::int64_t i = 0; i < size; i += lanes)
        sums += load<Floats>(query + g * size + i) * load<Floats>(keys + t * size + i);
      scores[g * length + t] = scale * sum(sums);
    }
  for (std::int64_t g = 0; g < group; ++g) {
    const float total = softmax_terms(scores + g * length, length);
    for (std::int64_t i = 0; i < size; i += lanes)
      weighted_mean<1>(values + i, scores + g * length, length, size, total, out + g * size + i);
  }
}

void attend(const float* query, const float* keys, const float* values, std::int64_t length, std::int64_t group,
            std::int64_t size, float scale, float* scores, float* out) {
  if (size == 64) return attend_heads<4>(query, keys, values, length, group, scale, scores, out);
  if (size == 128) return attend_heads<8>(query, keys, values, length, group, scale, scores, out);
  attend_any(query, keys, values, length, group, size, scale, scores, out);
}

}  // namespace

const CpuKernels kernels = {CUDAL1_KERNEL_NAME, product, rms_norm, gate, attend};

}  // namespace cudal1::CUDAL1_KERNEL_NAMESPACE
