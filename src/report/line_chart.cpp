#include "report/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/result.hpp"
#include "report/svg.hpp"

namespace cudal1 {
namespace {

constexpr double panel_width = 440.0, panel_height = 250.0, heading = 34.0;
constexpr double left = 62.0, right = 18.0, top = 48.0, bottom = 44.0;
constexpr std::size_t panels_in_a_row = 2, most_curves = 4;
constexpr double near_zero = 0.3;        // of the highest: an axis that begins so low begins at 0
constexpr double character_width = 6.6;  // of the legend's letters, about

// Told apart by those who do not see all colours, on light and dark pages (blue, orange, green, violet).
constexpr const char* colours =
    "<style>.c0{color:#0969da}.c1{color:#bc4c00}.c2{color:#1a7f37}.c3{color:#8250df}"
    ".raw{fill:currentColor;fill-opacity:.28}"
    ".smooth{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}"
    ".key{fill:currentColor}.frame{fill:none;stroke:currentColor;stroke-opacity:.45}.title{font-weight:bold}"
    "@media(prefers-color-scheme:dark){.c0{color:#58a6ff}.c1{color:#f0883e}.c2{color:#3fb950}.c3{color:#bc8cff}}"
    "</style>\n";

bool can_be_shown(const ChartPoint& point, ChartScale scale) {
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) return false;
  return scale != ChartScale::speedup || point.y > 0.0;
}

//! Without points that cannot be shown.
ChartPanel cleaned(ChartPanel panel) {
  if (panel.curves.size() > most_curves) throw Error(fmt::format("{}: too many curves for one panel", panel.title));
  for (ChartCurve& curve : panel.curves)
    std::erase_if(curve.points, [&](const ChartPoint& point) { return !can_be_shown(point, panel.scale); });
  return panel;
}

struct Range {
  double low = 0.0, high = 1.0;
};

//! Where there is but one value, some room around it.
Range with_room(Range range, double share) {
  const double width = range.high - range.low;
  const double room = width > 0.0 ? share * width : std::max(0.5 * std::abs(range.high), 1e-3);
  return {range.low - room, range.high + room};
}

template <class Number>
Range range_of(const ChartPanel& panel, const Number& number) {
  Range range{INFINITY, -INFINITY};
  for (const ChartCurve& curve : panel.curves)
    for (const ChartPoint& point : curve.points) {
      range.low = std::min(range.low, number(point));
      range.high = std::max(range.high, number(point));
    }
  return range;
}

std::string number_text(double value, ChartScale scale) {
  if (scale == ChartScale::speedup) return fmt::format("{:g}x", value);
  const double shown = scale == ChartScale::share ? 100.0 * value : value;
  return fmt::format("{:g}{}", std::abs(shown) < 1e-12 ? 0.0 : shown, scale == ChartScale::share ? "%" : "");
}

//! From numbers to places in one panel.
class PanelAxes {
 public:
  PanelAxes(const ChartPanel& panel, double x, double y)
      : scale_(panel.scale), left_(x + left), right_(x + panel_width - right), top_(y + top),
        bottom_(y + panel_height - bottom), speedups_(speedups_of(panel), bottom_, top_) {
    x_ = with_room(range_of(panel, [](const ChartPoint& point) { return point.x; }), 0.02);
    y_ = with_room(range_of(panel, [](const ChartPoint& point) { return point.y; }), 0.06);
    if (scale_ == ChartScale::share) y_ = {std::max(-0.03, y_.low), std::min(1.03, y_.high)};
    const double lowest = lowest_of(panel);
    if (scale_ == ChartScale::linear && lowest >= 0.0 && (y_.low < 0.0 || lowest < near_zero * y_.high)) y_.low = 0.0;
  }

  double at_x(double value) const { return left_ + (right_ - left_) * (value - x_.low) / (x_.high - x_.low); }
  double at_y(double value) const {
    if (scale_ == ChartScale::speedup) return speedups_.at(value);
    return bottom_ + (top_ - bottom_) * (value - y_.low) / (y_.high - y_.low);
  }
  std::vector<double> y_ticks() const {
    return scale_ == ChartScale::speedup ? speedups_.ticks(20.0) : round_ticks(y_.low, y_.high, 5);
  }
  //! Steps are whole.
  std::vector<double> x_ticks() const {
    std::vector<double> ticks = round_ticks(x_.low, x_.high, 6);
    std::erase_if(ticks, [](double tick) { return tick != std::round(tick); });
    return ticks;
  }
  double left_edge() const { return left_; }
  double right_edge() const { return right_; }
  double top_edge() const { return top_; }
  double bottom_edge() const { return bottom_; }

 private:
  static double lowest_of(const ChartPanel& panel) {
    return range_of(panel, [](const ChartPoint& point) { return point.y; }).low;
  }
  static std::vector<double> speedups_of(const ChartPanel& panel) {
    std::vector<double> values;
    if (panel.scale == ChartScale::speedup)
      for (const ChartCurve& curve : panel.curves)
        for (const ChartPoint& point : curve.points) values.push_back(point.y);
    return values;
  }

  ChartScale scale_;
  double left_, right_, top_, bottom_;
  SpeedupAxis speedups_;
  Range x_, y_;
};

std::string y_grid(const ChartPanel& panel, const PanelAxes& axes) {
  std::string text;
  for (const double tick : axes.y_ticks()) {
    const bool is_reference = panel.scale == ChartScale::speedup ? tick == 1.0 : std::abs(tick) < 1e-12;
    text += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        is_reference ? "frame" : "grid", axes.left_edge(), axes.right_edge(), axes.at_y(tick), axes.at_y(tick),
        axes.left_edge() - 6.0, axes.at_y(tick) + 4.0, number_text(tick, panel.scale));
  }
  return text;
}

std::string x_grid(const PanelAxes& axes) {
  std::string text;
  for (const double tick : axes.x_ticks())
    text += fmt::format(
        "<line class=\"frame\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4:g}</text>\n",
        axes.at_x(tick), axes.bottom_edge(), axes.bottom_edge() + 4.0, axes.bottom_edge() + 17.0, tick);
  return text;
}

std::string labels(const ChartPanel& panel, double x, double y, const PanelAxes& axes) {
  const double middle = 0.5 * (axes.top_edge() + axes.bottom_edge());
  return fmt::format(
      "<text class=\"title\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>"
      "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n"
      "<rect class=\"frame\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
      axes.left_edge(), y + 20.0, svg_escaped(panel.title), 0.5 * (axes.left_edge() + axes.right_edge()),
      axes.bottom_edge() + 34.0, svg_escaped(panel.x_label), x + 14.0, middle, svg_escaped(panel.y_label),
      axes.left_edge(), axes.top_edge(), axes.right_edge() - axes.left_edge(), axes.bottom_edge() - axes.top_edge());
}

std::string legend(const ChartPanel& panel, double y, const PanelAxes& axes) {
  std::string text;
  double x = axes.left_edge();
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    const std::string& name = panel.curves[i].name;
    if (name.empty()) continue;
    text += fmt::format("<rect class=\"key c{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"4\"/>"
                        "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                        i, x, y + 32.0, x + 17.0, y + 38.0, svg_escaped(name));
    x += 17.0 + character_width * static_cast<double>(name.size()) + 16.0;
  }
  return text;
}

std::string drawn(const ChartCurve& curve, std::size_t number, ChartScale scale, const PanelAxes& axes) {
  const std::size_t width = smoothing_width(curve.points.size());
  std::string text = fmt::format("<g class=\"c{}\"><title>{}</title>\n", number, svg_escaped(curve.name));
  for (const ChartPoint& point : curve.points)
    text += fmt::format("<circle class=\"raw\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\"/>\n", axes.at_x(point.x),
                        axes.at_y(point.y));
  std::string line;
  for (const ChartPoint& point : smoothed(curve.points, width, scale))
    line += fmt::format("{}{:.1f},{:.1f}", line.empty() ? "" : " ", axes.at_x(point.x), axes.at_y(point.y));
  return text + fmt::format("<polyline class=\"smooth\" points=\"{}\"/></g>\n", line);
}

bool is_empty(const ChartPanel& panel) {
  return std::ranges::all_of(panel.curves, [](const ChartCurve& curve) { return curve.points.empty(); });
}

std::string without_points(const ChartPanel& panel, double x, double y) {
  return fmt::format("<text class=\"title\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>"
                     "<text x=\"{:.1f}\" y=\"{:.1f}\">nothing was counted</text>\n",
                     x + left, y + 20.0, svg_escaped(panel.title), x + left, y + top + 20.0);
}

std::string drawn(const ChartPanel& panel, double x, double y) {
  if (is_empty(panel)) return without_points(panel, x, y);
  const PanelAxes axes(panel, x, y);
  std::string text = "<g>" + y_grid(panel, axes) + x_grid(axes) + labels(panel, x, y, axes) + legend(panel, y, axes);
  for (std::size_t i = 0; i < panel.curves.size(); ++i) text += drawn(panel.curves[i], i, panel.scale, axes);
  return text + "</g>\n";
}

}  // namespace

std::size_t smoothing_width(std::size_t points) {
  const std::size_t tenth = std::min<std::size_t>(points / 10, 50);
  return tenth % 2 == 1 ? tenth : tenth + 1;
}

std::vector<ChartPoint> smoothed(const std::vector<ChartPoint>& points, std::size_t width, ChartScale scale) {
  const bool is_log = scale == ChartScale::speedup;
  std::vector<ChartPoint> made;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t reach = std::min({width / 2, i, points.size() - 1 - i});
    double sum = 0.0;
    for (std::size_t k = i - reach; k <= i + reach; ++k) sum += is_log ? std::log(points[k].y) : points[k].y;
    const double mean = sum / static_cast<double>(2 * reach + 1);
    made.push_back({points[i].x, is_log ? std::exp(mean) : mean});
  }
  return made;
}

std::vector<double> round_ticks(double low, double high, int count) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high) || count < 1)
    throw Error(fmt::format("there are no round numbers from {} to {}", low, high));
  const double rough = (high - low) / count, power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough * (1.0 - 1e-9)) step = factor * power;
  std::vector<double> ticks;
  for (double number = std::ceil(low / step - 1e-9); number * step <= high + 1e-9 * step; number += 1.0)
    ticks.push_back(number == 0.0 ? 0.0 : number * step);  // not -0
  return ticks;
}

std::string line_chart(const std::vector<ChartPanel>& panels, const std::string& title) {
  if (panels.empty()) throw Error("a picture needs a panel");
  const std::size_t across = std::min(panels_in_a_row, panels.size());
  const std::size_t rows = (panels.size() + across - 1) / across;
  std::string text = svg_begin(panel_width * static_cast<double>(across),
                               heading + panel_height * static_cast<double>(rows), title);
  text += colours + fmt::format("<text x=\"14\" y=\"22\">{}</text>\n", svg_escaped(title));
  for (std::size_t i = 0; i < panels.size(); ++i)
    text += drawn(cleaned(panels[i]), panel_width * static_cast<double>(i % across),
                  heading + panel_height * static_cast<double>(i / across));
  return text + "</svg>\n";
}

}  // namespace cudal1
