#include <algorithm>
#include <cmath>

#include "references.hpp"

namespace cudal1::conformance {
namespace {

//! Zero outside; the sums below are in the order that the kernels document, in float.
struct Field {
  std::span<const float> x;
  std::int64_t n;

  float at(std::int64_t i, std::int64_t j = 0, std::int64_t k = 0) const {
    const auto outside = [this](std::int64_t index) { return index < 0 || index >= n; };
    if (outside(i) || outside(j) || outside(k)) return 0.0f;
    return x[static_cast<std::size_t>((k * n + j) * n + i)];
  }
};

void stencil_1d(const Task& task) {
  const Field field{task.buffer("x"), task.value("n")};
  const auto y = task.buffer("y");
  const std::int64_t radius = task.value("RADIUS");
  for (std::int64_t i = 0; i < field.n; ++i) {
    float sum = 0.0f;
    for (std::int64_t k = -radius; k <= radius; ++k) sum += field.at(i + k);
    y[static_cast<std::size_t>(i)] = sum;
  }
}

void stencil_2d(const Task& task) {
  const Field field{task.buffer("x"), task.value("n")};
  const auto y = task.buffer("y");
  std::size_t out = 0;
  for (std::int64_t j = 0; j < field.n; ++j)
    for (std::int64_t i = 0; i < field.n; ++i)
      y[out++] = (field.at(i, j - 1) + field.at(i, j + 1) + field.at(i - 1, j) + field.at(i + 1, j)) * 0.25f;
}

void stencil_3d(const Task& task) {
  const Field field{task.buffer("x"), task.value("n")};
  const auto y = task.buffer("y");
  std::size_t out = 0;
  for (std::int64_t k = 0; k < field.n; ++k)
    for (std::int64_t j = 0; j < field.n; ++j)
      for (std::int64_t i = 0; i < field.n; ++i)
        y[out++] = field.at(i - 1, j, k) + field.at(i + 1, j, k) + field.at(i, j - 1, k) + field.at(i, j + 1, k) +
                   field.at(i, j, k - 1) + field.at(i, j, k + 1);
}

void depthwise_conv(const Task& task) {
  const auto x = task.buffer("x"), w = task.buffer("w"), y = task.buffer("y");
  const std::int64_t n = task.value("n");
  const auto area = static_cast<std::size_t>(n * n);
  for (std::size_t out = 0; out < y.size(); ++out) {
    const std::size_t channel = out / area;
    const Field field{x.subspan(channel * area, area), n};
    const auto row = static_cast<std::int64_t>(out % area) / n, column = static_cast<std::int64_t>(out % area) % n;
    float sum = 0.0f;
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 3; ++j)
        sum =
            std::fma(w[channel * 9 + static_cast<std::size_t>(i * 3 + j)], field.at(column + j - 1, row + i - 1), sum);
    y[out] = sum;
  }
}

void max_pool(const Task& task) {
  const auto x = task.buffer("x"), y = task.buffer("y");
  const auto edge = static_cast<std::size_t>(task.value("edge")),
             outputs = static_cast<std::size_t>(task.value("outputs"));
  const auto window = static_cast<std::size_t>(task.value("WINDOW")),
             step = static_cast<std::size_t>(task.value("STEP"));
  for (std::size_t out = 0; out < y.size(); ++out) {
    y[out] = -HUGE_VALF;
    for (std::size_t i = 0; i < window * window; ++i)
      y[out] = std::max(y[out], x[(out / outputs * step + i / window) * edge + out % outputs * step + i % window]);
  }
}

void mandelbrot(const Task& task) {
  const auto steps = task.buffer<std::int32_t>("steps");
  const auto n = static_cast<int>(task.value("n"));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const float width = 3.0f / static_cast<float>(n);
    const float a = -2.0f + static_cast<float>(static_cast<int>(i) % n) * width;
    const float b = -1.5f + static_cast<float>(static_cast<int>(i) / n) * width;
    float x = 0.0f, y = 0.0f;
    steps[i] = 0;
    while (steps[i] < task.value("LIMIT") && x * x + y * y <= 4.0f) {
      const float next = x * x - y * y + a;
      y = 2.0f * x * y + b;
      x = next;
      ++steps[i];
    }
  }
}

void nbody(const Task& task) {
  const auto bodies = task.reals("bodies");
  std::vector<double> force(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); i += 4)
    for (std::size_t j = 0; j < bodies.size(); j += 4) {
      double apart[3], square = 0.01;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        apart[axis] = bodies[j + axis] - bodies[i + axis];
        square += apart[axis] * apart[axis];
      }
      for (std::size_t axis = 0; axis < 3; ++axis)
        force[i + axis] += apart[axis] * bodies[j + 3] / (square * std::sqrt(square));
    }
  task.store("force", force);
}

void smooth(const Task& task) {
  const auto x = task.buffer("x"), y = task.buffer("y");
  for (std::int64_t round = 0; round < task.value("rounds"); ++round) {
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] = (x[i > 0 ? i - 1 : 0] + x[i] + x[std::min(i + 1, x.size() - 1)]) * 0.25f;
    std::ranges::copy(y, x.begin());
  }
}

void ring(const Task& task) {
  const auto sums = task.buffer<std::uint32_t>("sums");
  std::uint32_t sum = 0;
  for (std::size_t i = sums.size(); i-- > 0;) sums[i] = sum += static_cast<std::uint32_t>(i);
}

void grid_3d(const Task& task) {
  const auto y = task.buffer<std::int32_t>("y");
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<std::int32_t>(i % 11 + 100 * (i / 11 % 10) + 10000 * (i / 110) + 1000000 * (3 + 4 * 3));
}

void doubled_reversed(const Task& task) {
  const auto x = task.buffer<std::int32_t>("x"), y = task.buffer<std::int32_t>("y");
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i / 64 * 64 + 63 - i % 64];
}

//! Pieces of 256 back to front; of their last 64 words every second is zero.
void pieces_reversed(const Task& task) {
  const auto x = task.buffer<std::int32_t>("x"), y = task.buffer<std::int32_t>("y");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t from = 255 - i % 256;
    y[i] = from >= 192 && from % 2 == 1 ? 0 : x[i / 256 * 256 + from];
  }
}

}  // namespace

const References& grid_references() {
  static const References table{{"stencil_1d", stencil_1d},
                                {"stencil_2d", stencil_2d},
                                {"stencil_3d", stencil_3d},
                                {"depthwise_conv", depthwise_conv},
                                {"max_pool", max_pool},
                                {"mandelbrot", mandelbrot},
                                {"nbody", nbody},
                                {"smooth", smooth},
                                {"ring", ring},
                                {"grid_3d", grid_3d},
                                {"doubled_reversed", doubled_reversed},
                                {"pieces_reversed", pieces_reversed}};
  return table;
}

}  // namespace cudal1::conformance
