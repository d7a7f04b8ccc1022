// Curves as a picture (SVG): panels side by side, each with axes of its own, readable on light and dark pages.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cudal1 {

enum class ChartScale {
  linear,
  share,    //!< 0 to 1, written as per cent
  speedup,  //!< logarithmic, written as 1.5x; 1 is always among them
};

struct ChartPoint {
  double x = 0.0, y = 0.0;
};

struct ChartCurve {
  std::string name;  //!< in the legend; empty: there is none
  std::vector<ChartPoint> points;
};

struct ChartPanel {
  std::string title;
  std::string y_label;  //!< what is counted, with its unit
  std::string x_label = "step";
  ChartScale scale = ChartScale::linear;
  std::vector<ChartCurve> curves;  //!< at most four
};

//! So many neighbours are one value of the smooth line: about a tenth of the points, odd, from 1 to 51.
std::size_t smoothing_width(std::size_t points);
//! Of each point the mean of its neighbours, as many on both sides as there are: shorter at the ends. Of speed-ups the
//! geometric mean.
std::vector<ChartPoint> smoothed(const std::vector<ChartPoint>& points, std::size_t width, ChartScale scale);

//! Round numbers within [low, high], about `count` of them. Throws Error unless both are finite and low < high.
std::vector<double> round_ticks(double low, double high, int count);

//! Faint raw points and a smooth line for each curve. What is not finite, and speed-ups that are not above 0, are left
//! out; a panel without points says so. Throws Error where there is no panel.
std::string line_chart(const std::vector<ChartPanel>& panels, const std::string& title);

}  // namespace cudal1
