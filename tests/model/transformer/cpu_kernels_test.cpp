#include "model/transformer/cpu/cpu_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/result.hpp"
#include "model/transformer/cpu/packed_matrix.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

std::vector<const CpuKernels*> kernels_of_this_machine() {
  std::vector<const CpuKernels*> all = {&kernels_base::kernels};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(&kernels_avx2::kernels);
  if (&cpu_kernels() == &kernels_avx512::kernels) all.push_back(&kernels_avx512::kernels);
#endif
  return all;
}

float wave(std::int64_t i) { return std::sin(0.7F * static_cast<float>(i)) + 0.1F; }

std::vector<float> waves(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(wave(i));
  return values;
}

TEST(CpuKernels, ProductsOfEveryStorageAreThoseOfTheirRows) {
  constexpr std::int64_t rows = 21, columns = 96, x_rows = 15;
  const std::vector<float> x = waves(x_rows * columns);
  for (const WeightType type : {WeightType::q4_1, WeightType::q4_0, WeightType::q8_0})
    for (const CpuWeights form : {CpuWeights::as_file, CpuWeights::f32, CpuWeights::bf16, CpuWeights::f16}) {
      const std::vector<std::byte> blocks = random_blocks(type, rows * columns, 3);
      const PackedMatrix matrix({type, {rows, columns}, blocks}, form);
      for (const CpuKernels* kernels : kernels_of_this_machine()) {
        std::vector<float> out(x_rows * rows);
        kernels->product(matrix.view(), 0, rows, x.data(), columns, x_rows, out.data(), rows);
        for (std::int64_t row = 0; row < rows; ++row) {
          std::vector<float> weights(columns);
          matrix.read_row(row, weights);
          for (std::int64_t m = 0; m < x_rows; ++m) {
            double sum = 0.0, size = 0.0;
            for (std::int64_t k = 0; k < columns; ++k) {
              const double term = static_cast<double>(weights[static_cast<std::size_t>(k)]) * wave(m * columns + k);
              sum += term;
              size += std::abs(term);
            }
            ASSERT_NEAR(out[static_cast<std::size_t>(m * rows + row)], sum, 1e-6 * size) << kernels->name;
          }
        }
      }
    }
}

TEST(CpuKernels, ARowIsBitEqualHoweverManyAreComputedBesideIt) {
  constexpr std::int64_t rows = 13, columns = 128, x_rows = 23;
  const std::vector<float> x = waves(x_rows * columns);
  const std::vector<std::byte> blocks = random_blocks(WeightType::q4_1, rows * columns, 5);
  for (const CpuWeights form : {CpuWeights::as_file, CpuWeights::f32, CpuWeights::bf16}) {
    const PackedMatrix matrix({WeightType::q4_1, {rows, columns}, blocks}, form);
    for (const CpuKernels* kernels : kernels_of_this_machine()) {
      std::vector<float> together(x_rows * rows), alone(rows);
      kernels->product(matrix.view(), 0, rows, x.data(), columns, x_rows, together.data(), rows);
      for (std::int64_t m = 0; m < x_rows; ++m) {
        for (std::int64_t row = 0; row < rows; ++row)  // and whichever rows of the matrix a thread was given
          kernels->product(matrix.view(), row, row + 1, x.data() + m * columns, columns, 1, alone.data(), rows);
        EXPECT_EQ(alone, std::vector<float>(together.begin() + m * rows, together.begin() + (m + 1) * rows))
            << kernels->name << " row " << m;
      }
    }
  }
}

TEST(CpuKernels, ManyRowsAreBitEqualToFewForEveryStorage) {
  constexpr std::int64_t rows = 29, x_rows = 19;
  for (const std::int64_t columns : {64, 4096 + 32}) {  // the second are too many to be turned into floats first
    const std::vector<float> x = waves(x_rows * columns);
    for (const WeightType type : {WeightType::q4_1, WeightType::q8_0})
      for (const CpuWeights form : {CpuWeights::as_file, CpuWeights::bf16, CpuWeights::f16}) {
        const std::vector<std::byte> blocks = random_blocks(type, rows * columns, 9);
        const PackedMatrix matrix({type, {rows, columns}, blocks}, form);
        for (const CpuKernels* kernels : kernels_of_this_machine()) {
          std::vector<float> many(x_rows * rows), few(x_rows * rows);
          kernels->product(matrix.view(), 0, rows, x.data(), columns, x_rows, many.data(), rows);
          for (std::int64_t m = 0; m < x_rows; ++m)
            kernels->product(matrix.view(), 0, rows, x.data() + m * columns, columns, 1, few.data() + m * rows, rows);
          EXPECT_EQ(many, few) << kernels->name << " " << columns;
        }
      }
  }
}

TEST(PackedMatrix, AMatrixWithTooFewBytesIsRefused) {
  const std::vector<std::byte> blocks = random_blocks(WeightType::q4_1, 64 * 3, 5);
  EXPECT_THROW(PackedMatrix({WeightType::q4_1, {4, 64}, blocks}, CpuWeights::as_file), Error);
  EXPECT_NO_THROW(PackedMatrix({WeightType::q4_1, {3, 64}, blocks}, CpuWeights::as_file));
}

TEST(CpuKernels, GatesAndNormsAreThoseOfTheFormulas) {
  std::vector<float> wide(64);
  for (std::size_t i = 0; i < wide.size(); ++i)
    wide[i] = -95.0F + 3.0F * static_cast<float>(i);  // past both ends of e^x
  const std::vector<float> up = waves(64);
  for (const CpuKernels* kernels : kernels_of_this_machine()) {
    std::vector<float> gate = wide, normed(64);
    kernels->gate(gate.data(), up.data(), 64);
    kernels->rms_norm(wide.data(), up.data(), 64, 64, 1e-5F, normed.data());
    double squares = 0.0;
    for (const float value : wide) squares += static_cast<double>(value) * value / 64;
    for (std::size_t i = 0; i < wide.size(); ++i) {
      const double x = wide[i], silu = x / (1.0 + std::exp(-x));
      EXPECT_NEAR(gate[i], silu * up[i], 1e-6 * std::abs(silu) + 1e-30) << kernels->name << " at " << x;
      EXPECT_NEAR(normed[i], x / std::sqrt(squares + 1e-5) * up[i], 2e-6) << kernels->name;
    }
  }
}

TEST(CpuKernels, AttentionIsTheMeanOfValuesByTheirScores) {
  constexpr std::int64_t length = 37, group = 3;
  for (const std::int64_t size : {32, 64, 128}) {
    const std::vector<float> query = waves(group * size), keys = waves(length * size + 5),
                             values = waves(length * size + 9);
    for (const CpuKernels* kernels : kernels_of_this_machine()) {
      std::vector<float> scores(group * length), out(static_cast<std::size_t>(group * size));
      kernels->attend(query.data(), keys.data() + 5, values.data() + 9, length, group, size, 0.3F, scores.data(),
                      out.data());
      for (std::int64_t g = 0; g < group; ++g)
        for (std::int64_t i = 0; i < size; ++i) {
          double total = 0.0, sum = 0.0;
          for (std::int64_t t = 0; t < length; ++t) {
            double score = 0.0;
            for (std::int64_t k = 0; k < size; ++k)
              score += static_cast<double>(wave(g * size + k)) * wave(5 + t * size + k);
            total += std::exp(0.3 * score);
            sum += std::exp(0.3 * score) * wave(9 + t * size + i);
          }
          EXPECT_NEAR(out[static_cast<std::size_t>(g * size + i)], sum / total, 5e-5) << kernels->name << " " << size;
        }
    }
  }
}

}  // namespace
}  // namespace cudal1
