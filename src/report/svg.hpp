// What our pictures (SVG) share: text, colours for light and dark pages, and an axis for speed-ups.
#pragma once

#include <string>
#include <vector>

namespace cudal1 {

std::string svg_escaped(const std::string& text);

//! The opening tag, the style and the title. The caller ends with "</svg>".
std::string svg_begin(double width, double height, const std::string& title);

//! A logarithmic axis from just below the least to just above the most speed-up, 1 among them; `from` and `to` are the
//! places of its ends in the picture.
class SpeedupAxis {
 public:
  SpeedupAxis(const std::vector<double>& speedups, double from, double to);
  //! What lies beyond an end is drawn at it.
  double at(double speedup) const;
  //! Round numbers that are at least `apart` from each other in the picture, 1 always among them.
  std::vector<double> ticks(double apart) const;

 private:
  double from_, to_, least_ = 0.9, most_ = 1.1;
};

}  // namespace cudal1
