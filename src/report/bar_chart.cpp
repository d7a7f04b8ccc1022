#include "report/bar_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/svg.hpp"

namespace cudal1 {
namespace {

constexpr double width = 900.0, left = 130.0, right = 150.0, top = 36.0, bottom = 30.0;
constexpr double heading_height = 20.0, bar_step = 18.0, group_gap = 12.0;
constexpr double tick_distance = 40.0;
constexpr std::size_t longest_heading = 118;  // characters that the width has room for

double height_of(const ChartGroup& group) {
  return heading_height + bar_step * static_cast<double>(group.bars.size()) + group_gap;
}

std::vector<double> values_of(const std::vector<ChartGroup>& groups) {
  std::vector<double> values;
  for (const ChartGroup& group : groups)
    for (const ChartBar& bar : group.bars)
      if (bar.value) values.insert(values.end(), {*bar.value, bar.low, bar.high});
  return values;
}

const char* class_of(BarColour colour) {
  constexpr const char* names[] = {"helps", "nothing", "hurts"};
  return names[static_cast<int>(colour)];
}

//! Cut between characters, not within one of UTF-8.
std::string shortened(const std::string& text) {
  if (text.size() <= longest_heading) return text;
  std::size_t end = longest_heading - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

//! Behind the bars of one group; lines through the headings would make those hard to read.
std::string grid(const SpeedupAxis& axis, double from, double to) {
  std::string text;
  for (const double tick : axis.ticks(tick_distance))
    text += fmt::format("<line class=\"{0}\" x1=\"{1:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{3:.1f}\"/>",
                        tick == 1.0 ? "one" : "grid", axis.at(tick), from, to);
  return text + "\n";
}

std::string tick_labels(const SpeedupAxis& axis, double y) {
  std::string text;
  for (const double tick : axis.ticks(tick_distance))
    text +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}x</text>\n", axis.at(tick), y, tick);
  return text;
}

std::string interval(const ChartBar& bar, double middle, const SpeedupAxis& axis) {
  if (bar.low == bar.high) return {};
  return fmt::format("<line class=\"range\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                     axis.at(bar.low), axis.at(bar.high), middle, middle);
}

std::string note_behind(const ChartBar& bar, double x, double y) {
  std::string words = bar.value ? fmt::format("{:.2f}x", *bar.value) : std::string();
  if (!bar.note.empty()) words += (words.empty() ? "" : " ") + bar.note;
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 6.0, y, svg_escaped(words));
}

std::string drawn(const ChartBar& bar, double y, const SpeedupAxis& axis) {
  const double one = axis.at(1.0), text_y = y + 0.75 * bar_step, middle = y + 0.5 * bar_step;
  std::string text = fmt::format("<g><text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", left - 8.0, text_y,
                                 svg_escaped(bar.name));
  if (!bar.value) return text + note_behind(bar, one, text_y) + "</g>\n";
  const double end = axis.at(*bar.value);
  text += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                      class_of(bar.colour), std::min(one, end), y + 2.0, std::max(1.0, std::abs(end - one)),
                      bar_step - 4.0);
  return text + interval(bar, middle, axis) + note_behind(bar, std::max({one, end, axis.at(bar.high)}), text_y) +
         "</g>\n";
}

std::string drawn(const ChartGroup& group, double y, const SpeedupAxis& axis) {
  std::string text = fmt::format("<g><title>{}</title><text class=\"code\" x=\"12\" y=\"{:.1f}\">{}</text>\n",
                                 svg_escaped(group.heading), y + 14.0, svg_escaped(shortened(group.heading)));
  double bar_y = y + heading_height;
  text += grid(axis, bar_y, y + height_of(group) - group_gap);
  for (const ChartBar& bar : group.bars) {
    text += drawn(bar, bar_y, axis);
    bar_y += bar_step;
  }
  return text + "</g>\n";
}

}  // namespace

std::string bar_chart(const std::vector<ChartGroup>& groups, const std::string& title) {
  double height = top + bottom;
  for (const ChartGroup& group : groups) height += height_of(group);
  const SpeedupAxis axis(values_of(groups), left, width - right);
  std::string text = svg_begin(width, height, title);
  text += fmt::format("<text x=\"12\" y=\"20\">{}</text>\n", svg_escaped(title)) +
          tick_labels(axis, height - bottom + 14.0);
  double y = top;
  for (const ChartGroup& group : groups) {
    text += drawn(group, y, axis);
    y += height_of(group);
  }
  return text + "</svg>\n";
}

}  // namespace cudal1
