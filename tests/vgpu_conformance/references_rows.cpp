#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "references.hpp"

namespace cudal1::conformance {
namespace {

using Row = std::span<double>;

//! Calls the function with every row of x, which it changes, and stores them as y.
template <class Function>
void each_row(const Task& task, Function function) {
  auto x = task.reals("x");
  const auto columns = static_cast<std::size_t>(task.value("columns"));
  for (std::size_t begin = 0; begin < x.size(); begin += columns) function(Row(x).subspan(begin, columns));
  task.store("y", x);
}

double mean_of(Row row) {
  double sum = 0.0;
  for (const double value : row) sum += value;
  return sum / static_cast<double>(row.size());
}

double variance_of(Row row, double mean) {
  double sum = 0.0;
  for (const double value : row) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(row.size());
}

void softmax(const Task& task) {
  each_row(task, [](Row row) {
    double sum = 0.0;
    for (double& value : row) sum += value = std::exp(value);
    for (double& value : row) value /= sum;
  });
}

void layer_norm(const Task& task) {
  const auto scale = task.reals("scale"), shift = task.reals("shift");
  each_row(task, [&](Row row) {
    const double mean = mean_of(row), factor = 1.0 / std::sqrt(variance_of(row, mean) + 1e-5);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = (row[i] - mean) * factor * scale[i] + shift[i];
  });
}

void rms_norm(const Task& task) {
  const auto scale = task.reals("scale");
  each_row(task, [&](Row row) {
    const double factor = 1.0 / std::sqrt(variance_of(row, 0.0) + 1e-6);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] *= factor * scale[i];
  });
}

void batch_norm(const Task& task) {
  auto x = task.reals("x");
  const auto count = static_cast<std::size_t>(task.value("count"));
  std::vector<double> means, variances;
  for (std::size_t begin = 0; begin < x.size(); begin += count) {
    const Row row = Row(x).subspan(begin, count);
    means.push_back(mean_of(row));
    variances.push_back(variance_of(row, means.back()));
    for (double& value : row) value = (value - means.back()) / std::sqrt(variances.back() + 1e-5);
  }
  task.store("y", x);
  task.store("mean", means);
  task.store("variance", variances);
}

//! In float, step by step as it is defined: the rounding decides.
void quantise_rows(const Task& task) {
  const auto x = task.buffer("x"), scales = task.buffer("scales");
  const auto q = task.buffer<std::int8_t>("q");
  const auto columns = static_cast<std::size_t>(task.value("columns"));
  const bool divide = task.value("DIVIDE") != 0;
  for (std::size_t row = 0; row < scales.size(); ++row) {
    float largest = 0.0f;
    for (const float value : x.subspan(row * columns, columns)) largest = std::max(largest, std::fabs(value));
    const float scale = largest / 127.0f, inverse = 1.0f / scale;
    scales[row] = scale;
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i)
      q[i] = static_cast<std::int8_t>(std::nearbyint(divide ? x[i] / scale : x[i] * inverse));
  }
}

void dequantise(const Task& task) {
  const auto q = task.buffer<std::uint8_t>("q");
  const auto b = task.buffer<std::int8_t>("b");
  const auto scales = task.buffer("scales"), y = task.buffer("y"), z = task.buffer("z");
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = static_cast<float>((q[i / 2] >> (i % 2 * 4) & 15) - 8) * scales[i / 32];
    z[i] = static_cast<float>(b[i]) * scales[i / 32];
  }
}

void gather_rows(const Task& task) {
  const auto table = task.buffer("table"), y = task.buffer("y");
  const auto index = task.buffer<std::int32_t>("index");
  const auto columns = static_cast<std::size_t>(task.value("columns"));
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = table[static_cast<std::size_t>(index[i / columns]) * columns + i % columns];
}

void group_norm(const Task& task) {
  auto x = task.reals("x");
  const auto scale = task.reals("scale"), shift = task.reals("shift");
  const auto count = static_cast<std::size_t>(task.value("count")),
             pixels = static_cast<std::size_t>(task.value("pixels"));
  for (std::size_t begin = 0; begin < x.size(); begin += count) {
    const Row group = Row(x).subspan(begin, count);
    const double mean = mean_of(group), factor = 1.0 / std::sqrt(variance_of(group, mean) + 1e-5);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t channel = (begin + i) / pixels % scale.size();
      group[i] = (group[i] - mean) * factor * scale[channel] + shift[channel];
    }
  }
  task.store("y", x);
}

//! A query sees the keys up to its own place.
void causal_softmax(const Task& task) {
  auto x = task.reals("x");
  const auto length = static_cast<std::size_t>(task.value("length"));
  for (std::size_t row = 0; row < x.size() / length; ++row) {
    const std::size_t seen = row % length + 1;
    const Row scores = Row(x).subspan(row * length, length);
    double sum = 0.0;
    for (double& score : scores.first(seen)) sum += score = std::exp(score);
    for (double& score : scores.first(seen)) score /= sum;
    std::ranges::fill(scores.subspan(seen), 0.0);
  }
  task.store("y", x);
}

void cross_entropy_rows(const Task& task) {
  const auto x = task.reals("x");
  const auto target = task.buffer<std::int32_t>("target");
  const std::size_t columns = x.size() / target.size();
  std::vector<double> loss(target.size());
  for (std::size_t row = 0; row < loss.size(); ++row) {
    double sum = 0.0;
    for (std::size_t i = 0; i < columns; ++i) sum += std::exp(x[row * columns + i]);
    loss[row] = std::log(sum) - x[row * columns + static_cast<std::size_t>(target[row])];
  }
  task.store("loss", loss);
}

void argmax_rows(const Task& task) {
  const auto x = task.buffer("x");
  const auto index = task.buffer<std::int32_t>("index");
  const std::size_t columns = x.size() / index.size();
  for (std::size_t row = 0; row < index.size(); ++row) {
    const auto own = x.subspan(row * columns, columns);
    index[row] = static_cast<std::int32_t>(std::ranges::max_element(own) - own.begin());
  }
}

void top_k_rows(const Task& task) {
  const auto x = task.buffer("x"), value = task.buffer("value");
  const auto index = task.buffer<std::int32_t>("index");
  const auto columns = static_cast<std::size_t>(task.value("columns")), k = static_cast<std::size_t>(task.value("K"));
  std::vector<std::int32_t> order(columns);
  for (std::size_t row = 0; row < x.size() / columns; ++row) {
    const auto own = x.subspan(row * columns, columns);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater{}, [&](std::int32_t i) { return own[static_cast<std::size_t>(i)]; });
    for (std::size_t i = 0; i < k; ++i) {
      index[row * k + i] = order[i];
      value[row * k + i] = own[static_cast<std::size_t>(order[i])];
    }
  }
}

//! Along rows, or with DOWN down the columns of the transposed matrix.
void cumulative_sum_rows(const Task& task) {
  auto x = task.reals("x");
  const auto rows = static_cast<std::size_t>(task.value("rows")),
             columns = static_cast<std::size_t>(task.value("columns"));
  const bool down = task.value("DOWN") != 0;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 1; i < columns; ++i) {
      if (down)
        x[i * rows + row] += x[(i - 1) * rows + row];
      else
        x[row * columns + i] += x[row * columns + i - 1];
    }
  task.store("y", x);
}

void cosine_rows(const Task& task) {
  const auto a = task.reals("a"), b = task.reals("b");
  const auto columns = static_cast<std::size_t>(task.value("columns"));
  std::vector<double> y(a.size() / columns);
  for (std::size_t row = 0; row < y.size(); ++row) {
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) {
      ab += a[i] * b[i];
      aa += a[i] * a[i];
      bb += b[i] * b[i];
    }
    y[row] = ab / std::sqrt(aa * bb);
  }
  task.store("y", y);
}

void embedding_bag(const Task& task) {
  constexpr std::size_t columns = 128, rows_each = 16;
  const auto table = task.reals("table");
  const auto index = task.buffer<std::int32_t>("index");
  std::vector<double> y(index.size() / rows_each * columns);
  for (std::size_t i = 0; i < index.size(); ++i)
    for (std::size_t c = 0; c < columns; ++c)
      y[i / rows_each * columns + c] += table[static_cast<std::size_t>(index[i]) * columns + c];
  task.store("y", y);
}

//! By the definition: a sum over all inputs for every output.
void fft_pieces(const Task& task) {
  const auto x = task.reals("x");
  const auto size = static_cast<std::size_t>(task.value("SIZE"));
  std::vector<double> y(x.size()), cosine(size), sine(size);
  for (std::size_t i = 0; i < size; ++i) {
    cosine[i] = std::cos(2.0 * M_PI * static_cast<double>(i) / static_cast<double>(size));
    sine[i] = std::sin(2.0 * M_PI * static_cast<double>(i) / static_cast<double>(size));
  }
  for (std::size_t at = 0; at < x.size() / 2; ++at) {
    const std::size_t begin = at / size * size, k = at % size;
    for (std::size_t j = 0; j < size; ++j) {
      const double real = x[2 * (begin + j)], imaginary = x[2 * (begin + j) + 1];
      const double c = cosine[j * k % size], s = sine[j * k % size];
      y[2 * at] += real * c + imaginary * s;
      y[2 * at + 1] += imaginary * c - real * s;
    }
  }
  task.store("x", y);
}

}  // namespace

const References& row_references() {
  static const References table{{"softmax", softmax},
                                {"layer_norm", layer_norm},
                                {"rms_norm", rms_norm},
                                {"batch_norm", batch_norm},
                                {"quantise_rows", quantise_rows},
                                {"dequantise", dequantise},
                                {"gather_rows", gather_rows},
                                {"fft_pieces", fft_pieces},
                                {"group_norm", group_norm},
                                {"causal_softmax", causal_softmax},
                                {"cross_entropy_rows", cross_entropy_rows},
                                {"argmax_rows", argmax_rows},
                                {"top_k_rows", top_k_rows},
                                {"cumulative_sum_rows", cumulative_sum_rows},
                                {"cosine_rows", cosine_rows},
                                {"embedding_bag", embedding_bag}};
  return table;
}

}  // namespace cudal1::conformance
