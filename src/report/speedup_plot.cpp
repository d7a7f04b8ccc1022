#include "report/speedup_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/speedups.hpp"

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

//! A logarithmic axis from just below the slowest to just above the fastest, 1 among them.
class Axis {
 public:
  explicit Axis(const std::vector<Bar>& bars) {
    for (const Bar& bar : bars) {
      least_ = std::min(least_, bar.speedup);
      most_ = std::max(most_, bar.speedup);
    }
    least_ *= 0.95;
    most_ *= 1.05;
  }
  double at(double speedup) const {
    const double bounded = std::clamp(speedup, least_, most_);
    return height - bottom - (height - top - bottom) * std::log(bounded / least_) / std::log(most_ / least_);
  }
  std::vector<double> ticks() const {
    std::vector<double> shown;
    for (const double tick : {0.1, 0.2, 0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0})
      if (tick >= least_ && tick <= most_ && (shown.empty() || at(shown.back()) - at(tick) > 14.0))
        shown.push_back(tick);
    return shown;
  }

 private:
  double least_ = 0.9, most_ = 1.1;
};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

// One picture for both: the page's own text colour where it is known, else what the reader's system prefers.
constexpr const char* style =
    "<style>svg{color:#24292f}.own{fill:#1a7f37}.library{fill:#6e7781}.grid{stroke:currentColor;stroke-opacity:.2}"
    ".one{stroke:currentColor}.range{stroke:currentColor;stroke-opacity:.6}text{fill:currentColor;font:12px "
    "sans-serif}@media(prefers-color-scheme:dark){svg{color:#e6edf3}.own{fill:#3fb950}.library{fill:#8b949e}}</"
    "style>\n";

std::string grid(const Axis& axis) {
  std::string text;
  for (const double tick : axis.ticks())
    text += fmt::format(
        "<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{:g}x</text>\n",
        tick == 1.0 ? "one" : "grid", left, width - right, axis.at(tick), axis.at(tick), left - 6.0,
        axis.at(tick) + 4.0, tick);
  return text;
}

std::string drawn(const Bar& bar, double x, double step, const Axis& axis) {
  const double from = axis.at(1.0), to = axis.at(bar.speedup), middle = x + 0.5 * step;
  return fmt::format(
      "<g><title>{}: {:.3f}x ({:.3f} to {:.3f})</title><rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
      "height=\"{:.1f}\"/><line class=\"range\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/></g>\n",
      escaped(bar.name), bar.speedup, bar.low, bar.high, bar.own_kernels ? "own" : "library", x + 0.1 * step,
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
  const Axis axis(bars);
  const double step = std::min(40.0, (width - left - right) / static_cast<double>(bars.size()));
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\">\n{2}"
      "<title>{3}</title><text x=\"{4}\" y=\"20\">{3}</text>\n",
      width, height, style, escaped(title), left);
  text += legend() + grid(axis);
  for (std::size_t i = 0; i < bars.size(); ++i)
    text += drawn(bars[i], left + step * static_cast<double>(i), step, axis);
  text += fmt::format("<text x=\"{}\" y=\"{}\">{} tasks, sorted</text>\n</svg>\n", left, height - 8.0, bars.size());
  return text;
}

}  // namespace cudal1
