// Gains as a picture (SVG) of bars that lie, readable on light and dark pages.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cudal1 {

enum class BarColour { helps, nothing, hurts };

struct ChartBar {
  std::string name;
  std::optional<double> value;  //!< nothing: `note` stands in its place
  double low = 1.0, high = 1.0;
  BarColour colour = BarColour::nothing;
  std::string note;  //!< behind the number
};

//! Bars under one heading.
struct ChartGroup {
  std::string heading;
  std::vector<ChartBar> bars;
};

//! Bars begin at 1 on a logarithmic axis; an interval is drawn where low and high differ.
std::string bar_chart(const std::vector<ChartGroup>& groups, const std::string& title);

}  // namespace cudal1
