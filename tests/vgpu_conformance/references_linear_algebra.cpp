#include <algorithm>
#include <cmath>

#include "references.hpp"

namespace cudal1::conformance {
namespace {

//! c = a b, all n x n and by rows.
void matmul(const Task& task) {
  const auto n = static_cast<std::size_t>(task.value("n"));
  const auto a = task.reals("a"), b = task.reals("b");
  std::vector<double> c(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  task.store("c", c);
}

//! The same of bytes; b lies by columns.
void matmul_bytes(const Task& task) {
  const auto n = static_cast<std::size_t>(task.value("n"));
  const auto a = task.buffer<std::int8_t>("a"), b = task.buffer<std::int8_t>("b");
  const auto c = task.buffer<std::int32_t>("c");
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      c[i * n + j] = 0;
      for (std::size_t k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[j * n + k];
    }
}

//! a: 16 x 16 by rows, b: 16 x 8 by columns, c: 16 x 8 by rows.
void mma_16x8x16(const Task& task) {
  const auto a = task.reals("a"), b = task.reals("b");
  std::vector<double> c(128);
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 8; ++j)
      for (std::size_t k = 0; k < 16; ++k) c[i * 8 + j] += a[i * 16 + k] * b[j * 16 + k];
  task.store("c", c);
}

void matvec(const Task& task) {
  const auto columns = static_cast<std::size_t>(task.value("columns"));
  const auto a = task.reals("a"), x = task.reals("x");
  std::vector<double> y(a.size() / columns);
  for (std::size_t i = 0; i < a.size(); ++i) y[i / columns] += a[i] * x[i % columns];
  task.store("y", y);
}

void row_dots(const Task& task) {
  const auto columns = static_cast<std::size_t>(task.value("columns"));
  const auto a = task.reals("a"), b = task.reals("b");
  std::vector<double> y(a.size() / columns);
  for (std::size_t i = 0; i < a.size(); ++i) y[i / columns] += a[i] * b[i];
  task.store("y", y);
}

void byte_dots(const Task& task) {
  const auto bytes = static_cast<std::size_t>(4 * task.value("words"));
  const auto a = task.buffer<std::int8_t>("a"), b = task.buffer<std::int8_t>("b");
  const auto y = task.buffer<std::int32_t>("y");
  std::ranges::fill(y, 0);
  for (std::size_t i = 0; i < a.size(); ++i) y[i / bytes] += a[i] * b[i % bytes];
}

void transpose(const Task& task) {
  const auto n = static_cast<std::size_t>(task.value("n"));
  const auto a = task.buffer("a"), b = task.buffer("b");
  for (std::size_t i = 0; i < n * n; ++i) b[i % n * n + i / n] = a[i];
}

//! One head and one query at a time: softmax(q k^T / 8) v.
void attention(const Task& task) {
  constexpr std::size_t columns = 64;
  const auto length = static_cast<std::size_t>(task.value("length"));
  const auto q = task.reals("q"), k = task.reals("k"), v = task.reals("v");
  std::vector<double> y(q.size());
  for (std::size_t row = 0; row < q.size() / columns; ++row) {
    const std::size_t head = row / length * length * columns;
    double total = 0.0;
    for (std::size_t key = 0; key < length; ++key) {
      double score = 0.0;
      for (std::size_t c = 0; c < columns; ++c) score += q[row * columns + c] * k[head + key * columns + c];
      const double weight = std::exp(score / 8.0);
      total += weight;
      for (std::size_t c = 0; c < columns; ++c) y[row * columns + c] += weight * v[head + key * columns + c];
    }
    for (std::size_t c = 0; c < columns; ++c) y[row * columns + c] /= total;
  }
  task.store("y", y);
}

void gemv_transposed(const Task& task) {
  const auto a = task.reals("a"), x = task.reals("x");
  std::vector<double> y(a.size() / x.size());
  for (std::size_t i = 0; i < a.size(); ++i) y[i % y.size()] += a[i] * x[i / y.size()];
  task.store("y", y);
}

//! Each 64 weights of a row share a scale.
void int8_gemv(const Task& task) {
  const auto q = task.buffer<std::int8_t>("q");
  const auto scale = task.reals("scale"), x = task.reals("x");
  std::vector<double> y(q.size() / x.size());
  for (std::size_t i = 0; i < q.size(); ++i) y[i / x.size()] += q[i] * scale[i / 64] * x[i % x.size()];
  task.store("y", y);
}

void batched_small_matmul(const Task& task) {
  const auto a = task.reals("a"), b = task.reals("b");
  std::vector<double> c(a.size());
  for (std::size_t at = 0; at < c.size(); ++at) {
    const std::size_t matrix = at / 256 * 256, row = at % 256 / 16, column = at % 16;
    for (std::size_t k = 0; k < 16; ++k) c[at] += a[matrix + row * 16 + k] * b[matrix + k * 16 + column];
  }
  task.store("c", c);
}

//! max(0, x w^T + bias), x: (m, k), w: (n, k).
void linear_relu(const Task& task) {
  const auto n = static_cast<std::size_t>(task.value("n")), depth = static_cast<std::size_t>(task.value("k"));
  const auto x = task.reals("x"), w = task.reals("w"), bias = task.reals("bias");
  std::vector<double> y(x.size() / depth * n);
  for (std::size_t at = 0; at < y.size(); ++at) {
    double sum = bias[at % n];
    for (std::size_t k = 0; k < depth; ++k) sum += x[at / n * depth + k] * w[at % n * depth + k];
    y[at] = std::max(0.0, sum);
  }
  task.store("y", y);
}

//! Over 64 columns, for all pairs of rows of two matrices.
void pairwise_distance(const Task& task) {
  const auto a = task.reals("a"), b = task.reals("b");
  const std::size_t n = b.size() / 64;
  std::vector<double> y(n * n);
  for (std::size_t at = 0; at < y.size(); ++at)
    for (std::size_t k = 0; k < 64; ++k) y[at] += std::pow(a[at / n * 64 + k] - b[at % n * 64 + k], 2.0);
  task.store("y", y);
}

void causal_scores(const Task& task) {
  const auto q = task.reals("q"), k = task.reals("k");
  const auto length = static_cast<std::size_t>(task.value("length"));
  std::vector<double> y(q.size() / 64 * length, -HUGE_VAL);
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::size_t head = at / (length * length) * length, query = at / length % length, key = at % length;
    if (key > query) continue;
    y[at] = 0.0;
    for (std::size_t i = 0; i < 64; ++i) y[at] += q[(head + query) * 64 + i] * k[(head + key) * 64 + i] / 8.0;
  }
  task.store("y", y);
}

//! Every matrix of eight rows of eight 16-bit numbers; lane 4 i + j gets numbers 2 j and 2 j + 1 of row i, or of column
//! i where it is transposed. Six loads: one, two and four matrices, then the same transposed.
void ldmatrix_layouts(const Task& task) {
  const auto from = view<std::uint16_t>(task.memory.at("x"));
  const auto to = view<std::uint16_t>(task.memory.at("y"));
  constexpr std::size_t counts[] = {1, 2, 4};
  for (std::size_t load = 0; load < 6; ++load)
    for (std::size_t matrix = 0; matrix < counts[load % 3]; ++matrix)
      for (std::size_t row = 0; row < 8; ++row)
        for (std::size_t column = 0; column < 8; ++column) {
          const std::size_t target = (load * 4 + matrix) * 64 + row * 8 + column;
          to[target] = from[matrix * 64 + (load < 3 ? row * 8 + column : column * 8 + row)];
        }
}

}  // namespace

const References& linear_algebra_references() {
  static const References table{{"matmul", matmul},
                                {"matmul_bytes", matmul_bytes},
                                {"mma_16x8x16", mma_16x8x16},
                                {"matvec", matvec},
                                {"row_dots", row_dots},
                                {"byte_dots", byte_dots},
                                {"transpose", transpose},
                                {"attention", attention},
                                {"ldmatrix_layouts", ldmatrix_layouts},
                                {"gemv_transposed", gemv_transposed},
                                {"int8_gemv", int8_gemv},
                                {"batched_small_matmul", batched_small_matmul},
                                {"linear_relu", linear_relu},
                                {"pairwise_distance", pairwise_distance},
                                {"causal_scores", causal_scores}};
  return table;
}

}  // namespace cudal1::conformance
