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
  static const References table{
      {"matmul", matmul},       {"matmul_bytes", matmul_bytes}, {"mma_16x8x16", mma_16x8x16},
      {"matvec", matvec},       {"row_dots", row_dots},         {"byte_dots", byte_dots},
      {"transpose", transpose}, {"attention", attention},       {"ldmatrix_layouts", ldmatrix_layouts}};
  return table;
}

}  // namespace cudal1::conformance
