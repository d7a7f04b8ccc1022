#include "report/speedup_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/speedups.hpp"
#include "report/svg.hpp"

namespace cudal1 {
namespace {

constexpr double width = 900.0, height = 320.0, left = 56.0, right = 16.0, top = 40.0, bottom = 28.0;

struct Bar {
  std::string name;
  double speedup = 1.0, low = 1.0, high = 1.0;
  bool own_kernels = false;
};

std::vector<Bar> sorted_bars(const std::vector<BenchRow>& rows, const std::string& against) {
  std::vector<Bar> bars;
  for (const BenchRow& row : rows) {
    const auto timing = row.degenerate ? std::nullopt : speedup_of(row, against);
    if (timing) bars.push_back({row.label(), timing->speedup, timing->low, timing->high, row.own_kernels});
  }
  std::ranges::sort(bars, {}, &Bar::speedup);
  return bars;
}

std::vector<double> speedups_of(const std::vector<Bar>& bars) {
  std::vector<double> speedups;
  for (const Bar& bar : bars) speedups.push_back(bar.speedup);
  return speedups;
}

std::string grid(const SpeedupAxis& axis) {
  std::string text;
  for (const double tick : axis.ticks(14.0))
    text += fmt::format(
        "<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{:g}x</text>\n",
        tick == 1.0 ? "one" : "grid", left, width - right, axis.at(tick), axis.at(tick), left - 6.0,
        axis.at(tick) + 4.0, tick);
  return text;
}

std::string drawn(const Bar& bar, double x, double step, const SpeedupAxis& axis) {
  const double from = axis.at(1.0), to = axis.at(bar.speedup), middle = x + 0.5 * step;
  return fmt::format(
      "<g><title>{}: {:.3f}x ({:.3f} to {:.3f})</title><rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
      "height=\"{:.1f}\"/><line class=\"range\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/></g>\n",
      svg_escaped(bar.name), bar.speedup, bar.low, bar.high, bar.own_kernels ? "own" : "library", x + 0.1 * step,
      std::min(from, to), 0.8 * step, std::max(0.5, std::abs(from - to)), middle, middle, axis.at(bar.low),
      axis.at(bar.high));
}

std::string legend() {
  constexpr double at = width - 300.0;
  return fmt::format(
      "<rect class=\"own\" x=\"{}\" y=\"10\" width=\"12\" height=\"12\"/><text x=\"{}\" y=\"20\">own kernels</text>"
      "<rect class=\"library\" x=\"{}\" y=\"10\" width=\"12\" height=\"12\"/><text x=\"{}\" y=\"20\">library ops "
      "only</text>\n",
      at, at + 18.0, at + 120.0, at + 138.0);
}

}  // namespace

std::string speedup_plot(const std::vector<BenchRow>& rows, const std::string& against, const std::string& title) {
  const std::vector<Bar> bars = sorted_bars(rows, against);
  if (bars.empty()) return {};
  const SpeedupAxis axis(speedups_of(bars), height - bottom, top);
  const double step = std::min(40.0, (width - left - right) / static_cast<double>(bars.size()));
  std::string text = svg_begin(width, height, title);
  text += fmt::format("<text x=\"{}\" y=\"20\">{}</text>\n", left, svg_escaped(title));
  text += legend() + grid(axis);
  for (std::size_t i = 0; i < bars.size(); ++i)
    text += drawn(bars[i], left + step * static_cast<double>(i), step, axis);
  text += fmt::format("<text x=\"{}\" y=\"{}\">{} tasks, sorted</text>\n</svg>\n", left, height - 8.0, bars.size());
  return text;
}

}  // namespace cudal1
