#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cudal1 {
namespace {

// One picture for both: the page's own text colour where it is known, else what the reader's system prefers.
constexpr const char* style =
    "<style>svg{color:#24292f}.own,.helps{fill:#1a7f37}.library,.nothing{fill:#6e7781}.hurts{fill:#cf222e}"
    ".grid{stroke:currentColor;stroke-opacity:.2}.one{stroke:currentColor}.range{stroke:currentColor;stroke-opacity:.6}"
    "text{fill:currentColor;font:12px sans-serif}.code{font-family:monospace}"
    "@media(prefers-color-scheme:dark){svg{color:#e6edf3}.own,.helps{fill:#3fb950}.library,.nothing{fill:#8b949e}"
    ".hurts{fill:#f85149}}</style>\n";

}  // namespace

std::string svg_escaped(const std::string& text) {
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

std::string svg_begin(double width, double height, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\">\n{2}<title>{3}</title>",
      width, height, style, svg_escaped(title));
}

SpeedupAxis::SpeedupAxis(const std::vector<double>& speedups, double from, double to) : from_(from), to_(to) {
  for (const double speedup : speedups) {
    least_ = std::min(least_, speedup);
    most_ = std::max(most_, speedup);
  }
  least_ *= 0.95;
  most_ *= 1.05;
}

double SpeedupAxis::at(double speedup) const {
  const double bounded = std::clamp(speedup, least_, most_);
  return from_ + (to_ - from_) * std::log(bounded / least_) / std::log(most_ / least_);
}

std::vector<double> SpeedupAxis::ticks(double apart) const {
  const auto is_near = [&](double tick, double other) { return std::abs(at(tick) - at(other)) <= apart; };
  std::vector<double> shown;
  for (const double tick : {0.1, 0.2, 0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0})
    if (tick >= least_ && tick <= most_ && (tick == 1.0 || !is_near(tick, 1.0)) &&
        (shown.empty() || !is_near(tick, shown.back())))
      shown.push_back(tick);
  return shown;
}

}  // namespace cudal1
