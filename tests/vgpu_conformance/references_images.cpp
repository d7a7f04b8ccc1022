// Signals and images: filters, changes of size, and changes of layout.
#include <algorithm>
#include <cmath>

#include "references.hpp"

namespace cudal1::conformance {
namespace {

std::size_t size_named(const Task& task, const std::string& name) { return static_cast<std::size_t>(task.value(name)); }

//! x: (images, 32, length + 4), w: (32, 32, 5), y: (images, 32, length)
void conv1d_direct(const Task& task) {
  const auto x = task.reals("x"), w = task.reals("w");
  const std::size_t images = size_named(task, "images"), length = size_named(task, "length"), padded = length + 4;
  std::vector<double> y(images * 32 * length);
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::size_t image = at / length / 32, out = at / length % 32, i = at % length;
    for (std::size_t in = 0; in < 32; ++in)
      for (std::size_t t = 0; t < 5; ++t) y[at] += w[(out * 32 + in) * 5 + t] * x[(image * 32 + in) * padded + i + t];
  }
  task.store("y", y);
}

//! x: (images, 32, n + 2, n + 2), w: (32, 32, 3, 3), y: (images, 32, n, n); with LAST channels come last, in w outputs.
void conv2d_3x3(const Task& task) {
  const auto x = task.reals("x"), w = task.reals("w");
  const std::size_t n = size_named(task, "n"), edge = n + 2;
  const bool last = task.value("LAST") != 0;
  const auto place = [last](std::size_t image, std::size_t channel, std::size_t row, std::size_t column,
                            std::size_t side) {
    return last ? ((image * side + row) * side + column) * 32 + channel
                : ((image * 32 + channel) * side + row) * side + column;
  };
  std::vector<double> y(size_named(task, "images") * 32 * n * n);
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::size_t column = at % n, row = at / n % n, out = at / (n * n) % 32, image = at / (n * n * 32);
    double& sum = y[place(image, out, row, column, n)];
    for (std::size_t in = 0; in < 32; ++in)
      for (std::size_t tap = 0; tap < 9; ++tap)
        sum += w[last ? (in * 9 + tap) * 32 + out : (out * 32 + in) * 9 + tap] *
               x[place(image, in, row + tap / 3, column + tap % 3, edge)];
  }
  task.store("y", y);
}

//! x: (planes, n, n), y: (planes, 2 n, 2 n); with LAST planes come last.
void upsample_nearest(const Task& task) {
  const auto x = task.buffer("x"), y = task.buffer("y");
  const std::size_t n = size_named(task, "n"), planes = size_named(task, "planes");
  const std::size_t inner = task.value("LAST") != 0 ? planes : 1;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t column = i / inner % (2 * n), row = i / inner / (2 * n) % (2 * n),
                      plane = i / inner / (4 * n * n);
    y[i] = x[((plane * n + row / 2) * n + column / 2) * inner + i % inner];
  }
}

//! Planes as above; a pixel stands for its centre, and the outermost centres for all beyond.
void bilinear_resize(const Task& task) {
  const auto x = task.reals("x");
  const std::size_t in = size_named(task, "in"), out = size_named(task, "out"), planes = size_named(task, "planes");
  const bool last = task.value("LAST") != 0;
  const auto pixel = [&](std::size_t plane, double row, double column) {
    const auto at = [in](double place) { return static_cast<std::size_t>(std::clamp<double>(place, 0.0, in - 1.0)); };
    const std::size_t flat = at(row) * in + at(column);
    return x[last ? flat * planes + plane : plane * in * in + flat];
  };
  const auto centre = [&](std::size_t i) {
    const double ratio = static_cast<double>(in) / static_cast<double>(out);
    return std::max(0.0, (static_cast<double>(i) + 0.5) * ratio - 0.5);
  };
  std::vector<double> y(planes * out * out);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t plane = i / (out * out), flat = i % (out * out);
    const double row = centre(flat / out), column = centre(flat % out);
    const double top = std::floor(row), side = std::floor(column), down = row - top, along = column - side;
    const double upper = pixel(plane, top, side) * (1.0 - along) + pixel(plane, top, side + 1.0) * along;
    const double lower = pixel(plane, top + 1.0, side) * (1.0 - along) + pixel(plane, top + 1.0, side + 1.0) * along;
    y[last ? flat * planes + plane : i] = upper * (1.0 - down) + lower * down;
  }
  task.store("y", y);
}

//! (tokens, 3, heads, 64) to (3, heads, tokens, 64)
void split_heads(const Task& task) {
  const auto x = task.buffer("x"), y = task.buffer("y");
  const std::size_t tokens = size_named(task, "tokens"), heads = size_named(task, "heads");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t column = i % 64, part_and_head = i / 64 % (3 * heads), token = i / 64 / (3 * heads);
    y[(part_and_head * tokens + token) * 64 + column] = x[i];
  }
}

void to_channels_last(const Task& task) {
  const auto x = task.buffer("x"), y = task.buffer("y");
  const std::size_t channels = size_named(task, "channels"), pixels = size_named(task, "pixels");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t pixel = i % pixels, channel = i / pixels % channels, image = i / pixels / channels;
    y[(image * pixels + pixel) * channels + channel] = x[i];
  }
}

//! Taps are those of the buffer, or the ones that kernels have in their source.
std::vector<double> taps_of(const Task& task, bool from_buffer, int factor, int modulus) {
  auto taps = task.reals("taps");
  if (from_buffer) return taps;
  for (int k = 0; k < static_cast<int>(taps.size()); ++k)
    taps[static_cast<std::size_t>(k)] = ((k * k * factor + k) % modulus - modulus / 2) / 16.0;
  return taps;
}

void fir_filter(const Task& task) {
  const auto x = task.reals("x"), taps = taps_of(task, task.value("METHOD") >= 2, 5, 29);
  std::vector<double> y(size_named(task, "n"));
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t k = 0; k < taps.size(); ++k) y[i] += taps[k] * x[i + k];
  task.store("y", y);
}

void polyphase_filter(const Task& task) {
  const auto x = task.reals("x"), taps = taps_of(task, task.value("METHOD") >= 4, 3, 31);
  std::vector<double> y(size_named(task, "n"));
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t k = 0; k < 16; ++k) y[i] += taps[k * 4 + i % 4] * x[i / 4 + k];
  task.store("y", y);
}

}  // namespace

const References& image_references() {
  static const References table{{"conv1d_direct", conv1d_direct},
                                {"conv2d_3x3", conv2d_3x3},
                                {"upsample_nearest", upsample_nearest},
                                {"bilinear_resize", bilinear_resize},
                                {"split_heads", split_heads},
                                {"to_channels_last", to_channels_last},
                                {"fir_filter", fir_filter},
                                {"polyphase_filter", polyphase_filter}};
  return table;
}

}  // namespace cudal1::conformance
