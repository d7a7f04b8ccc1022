// What neural networks do element by element.
#include <algorithm>
#include <cmath>

#include "references.hpp"

namespace cudal1::conformance {
namespace {

std::size_t size_named(const Task& task, const std::string& name) { return static_cast<std::size_t>(task.value(name)); }

template <class Function>
void with_bias(const Task& task, Function function) {
  auto x = task.reals("x");
  const auto bias = task.reals("bias");
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = function(x[i] + bias[i % bias.size()]);
  task.store("y", x);
}

void gelu_bias(const Task& task) {
  with_bias(task, [](double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); });
}

void gelu_tanh_bias(const Task& task) {
  with_bias(task, [](double x) { return 0.5 * x * (1.0 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))); });
}

//! Gate and up are the halves of a row of 2 columns, or take turns.
void swiglu(const Task& task) {
  const auto x = task.reals("x");
  const std::size_t columns = size_named(task, "columns");
  const bool interleaved = task.value("INTERLEAVED") != 0;
  std::vector<double> y(x.size() / 2);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t row = i / columns * 2 * columns, column = i % columns;
    const double gate = x[interleaved ? 2 * i : row + column], up = x[interleaved ? 2 * i + 1 : row + columns + column];
    y[i] = gate / (1.0 + std::exp(-gate)) * up;
  }
  task.store("y", y);
}

void batch_norm_relu(const Task& task) {
  auto x = task.reals("x");
  const auto mean = task.reals("mean"), variance = task.reals("variance");
  const auto scale = task.reals("scale"), shift = task.reals("shift");
  const std::size_t pixels = task.value("LAST") != 0 ? 1 : size_named(task, "pixels");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i / pixels % mean.size();
    x[i] = std::max(0.0, (x[i] - mean[c]) / std::sqrt(variance[c] + 1e-5) * scale[c] + shift[c]);
  }
  task.store("y", x);
}

//! The bias of the moments is corrected by 5 and 50.
void adam_update(const Task& task) {
  const auto gradient = task.reals("gradient");
  auto parameter = task.reals("parameter"), first = task.reals("first"), second = task.reals("second");
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    first[i] = 0.9 * first[i] + 0.1 * gradient[i];
    second[i] = 0.999 * second[i] + 0.001 * gradient[i] * gradient[i];
    parameter[i] -= 0.01 * (5.0 * first[i] / (std::sqrt(50.0 * second[i]) + 1e-8));
  }
  task.store("parameter", parameter);
  task.store("first", first);
  task.store("second", second);
}

std::uint32_t hashed(std::uint32_t x, std::int64_t rounds) {
  for (std::uint32_t round = 0; round < rounds; ++round) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu + round;
  }
  return x ^ (x >> 16);
}

void dropout_residual(const Task& task) {
  const auto x = task.reals("x");
  auto y = task.reals("residual");
  const auto kept = task.buffer<std::uint8_t>("kept");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool keep = hashed(static_cast<std::uint32_t>(i), task.value("ROUNDS")) >= 0x40000000u;
    if (keep) y[i] += x[i] / 0.75;
    if (task.value("STORE") != 0) kept[i] = keep;
  }
  task.store("y", y);
}

//! x: (tokens, 16 heads, 128), in place; a pair is (i, i + 64) of a head, or (2 i, 2 i + 1).
void rope_rotate(const Task& task) {
  auto x = task.reals("x");
  const auto cosine = task.reals("cosine"), sine = task.reals("sine");
  const bool table = task.value("TABLE") != 0, split = task.value("SPLIT") != 0;
  for (std::size_t i = 0; i < x.size() / 2; ++i) {
    const std::size_t head = i / 64 * 128, pair = i % 64, token = i / 1024;
    const double angle = static_cast<double>(token) * std::pow(10000.0, -static_cast<double>(pair) / 64.0);
    const double c = table ? cosine[token * 64 + pair] : std::cos(angle);
    const double s = table ? sine[token * 64 + pair] : std::sin(angle);
    double& first = x[head + (split ? pair : 2 * pair)];
    double& second = x[head + (split ? pair + 64 : 2 * pair + 1)];
    const double turned = first * c - second * s;
    second = first * s + second * c;
    first = turned;
  }
  task.store("x", x);
}

void concat_columns(const Task& task) {
  const auto y = task.buffer("y");
  std::size_t begin = 0;
  const std::size_t columns = size_named(task, "columns"), rows = size_named(task, "rows");
  for (const char* name : {"a", "b", "c"}) {
    const auto part = task.buffer(name);
    const std::size_t width = part.size() / rows;
    for (std::size_t i = 0; i < part.size(); ++i) y[i / width * columns + begin + i % width] = part[i];
    begin += width;
  }
}

void outer_product_add(const Task& task) {
  const auto x = task.buffer("x"), y = task.buffer("y"), u = task.buffer("u"), v = task.buffer("v"),
             a = task.buffer("a");
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t row = i / y.size(), column = i % y.size();
    a[i] += x[row] * y[column] + u[row] * v[column];
  }
}

}  // namespace

const References& module_references() {
  static const References table{{"gelu_bias", gelu_bias},
                                {"gelu_tanh_bias", gelu_tanh_bias},
                                {"swiglu", swiglu},
                                {"batch_norm_relu", batch_norm_relu},
                                {"adam_update", adam_update},
                                {"dropout_residual", dropout_residual},
                                {"rope_rotate", rope_rotate},
                                {"concat_columns", concat_columns},
                                {"outer_product_add", outer_product_add}};
  return table;
}

}  // namespace cudal1::conformance
