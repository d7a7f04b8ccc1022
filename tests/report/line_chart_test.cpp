// Curves with axes that can be read: round ticks, units, raw points behind a smooth line.
#include "report/line_chart.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/result.hpp"

namespace cudal1 {
namespace {

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

ChartPanel panel_of(std::vector<ChartPoint> points, ChartScale scale = ChartScale::linear) {
  return {.title = "loss", .y_label = "nats a token", .scale = scale, .curves = {{"", std::move(points)}}};
}

TEST(LineChart, TicksAreRoundAndWithinTheirRange) {
  EXPECT_EQ(round_ticks(0.0, 10.0, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(round_ticks(-0.3, 1.2, 3), (std::vector<double>{0.0, 0.5, 1.0}));
  EXPECT_FALSE(std::signbit(round_ticks(-0.3, 1.2, 3).front())) << "is written 0, not -0";
  const std::vector<double> small = round_ticks(1e-6, 3e-6, 4);
  ASSERT_FALSE(small.empty());
  EXPECT_GE(small.front(), 1e-6 * (1 - 1e-9));
  EXPECT_LE(small.back(), 3e-6 * (1 + 1e-9));
  EXPECT_THROW(round_ticks(1.0, 1.0, 5), Error);
  EXPECT_THROW(round_ticks(0.0, INFINITY, 5), Error);
}

TEST(LineChart, TheSmoothLineIsTheMeanOfNeighboursOnBothSides) {
  EXPECT_EQ(smoothing_width(5), 1u);
  EXPECT_EQ(smoothing_width(30), 3u);
  EXPECT_EQ(smoothing_width(40), 5u) << "odd: as many on both sides";
  EXPECT_EQ(smoothing_width(100000), 51u);
  const std::vector<ChartPoint> points{{1, 0}, {2, 3}, {3, 6}, {4, 0}};
  const std::vector<ChartPoint> smooth = smoothed(points, 3, ChartScale::linear);
  EXPECT_EQ(smooth[0].y, 0.0) << "no neighbour on the left: none on the right";
  EXPECT_NEAR(smooth[1].y, 3.0, 1e-12);
  EXPECT_NEAR(smooth[2].y, 3.0, 1e-12);
  const std::vector<ChartPoint> speedups{{1, 1}, {2, 2}, {3, 4}};
  EXPECT_NEAR(smoothed(speedups, 3, ChartScale::speedup)[1].y, 2.0, 1e-12) << "the geometric mean";
}

TEST(LineChart, HasEveryPointAndSaysWhatIsCounted) {
  const std::string svg = line_chart({panel_of({{1, 3.0}, {2, 2.5}, {3, 2.0}})}, "a run");
  EXPECT_EQ(count_of("class=\"raw\"", svg), 3u);
  EXPECT_EQ(count_of("class=\"smooth\"", svg), 1u);
  for (const char* part : {"nats a token</text>", ">step</text>", ">loss</text>", ">a run</text>", ">2.5</text>",
                           "prefers-color-scheme:dark", "</svg>"})
    EXPECT_NE(svg.find(part), svg.npos) << part;
}

TEST(LineChart, SharesAreWrittenAsPerCentAndSpeedupsAsFactors) {
  EXPECT_NE(line_chart({panel_of({{1, 0.0}, {2, 1.0}}, ChartScale::share)}, "").find(">100%</text>"), std::string::npos);
  const std::string svg = line_chart({panel_of({{1, 0.5}, {2, 3.0}}, ChartScale::speedup)}, "");
  for (const char* tick : {">0.5x</text>", ">1x</text>", ">2x</text>"}) EXPECT_NE(svg.find(tick), svg.npos) << tick;
  const std::string wide = line_chart({panel_of({{1, 0.85}, {2, 20.0}}, ChartScale::speedup)}, "");
  EXPECT_NE(wide.find(">1x</text>"), wide.npos) << "of ticks that are too near, 1x stays";
  EXPECT_EQ(wide.find(">0.9x</text>"), wide.npos);
}

TEST(LineChart, WhatCannotBeShownIsLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = line_chart({panel_of({{1, nan}, {2, 0.0}, {3, 2.0}, {4, INFINITY}}, ChartScale::speedup)}, "");
  EXPECT_EQ(count_of("class=\"raw\"", svg), 1u) << "a speed-up of 0 is a step without a success";
  EXPECT_EQ(svg.find("nan"), svg.npos);
  EXPECT_EQ(svg.find("inf"), svg.npos);
  const std::string empty = line_chart({panel_of({{1, nan}})}, "");
  EXPECT_NE(empty.find("nothing was counted"), empty.npos);
  EXPECT_THROW(line_chart({}, ""), Error);
}

TEST(LineChart, OnePointAndEqualOnesHaveAnAxis) {
  for (const std::vector<ChartPoint>& points : {std::vector<ChartPoint>{{1, 0.0}}, {{1, 2.0}, {2, 2.0}}, {{1, -1.0}}}) {
    const std::string svg = line_chart({panel_of(points)}, "");
    EXPECT_EQ(count_of("class=\"raw\"", svg), points.size());
    EXPECT_EQ(svg.find("nan"), svg.npos) << svg;
  }
}

TEST(LineChart, NamesOfOthersCannotBreakThePicture) {
  const std::string svg = line_chart({panel_of({{1, 1.0}})}, "<script>&");
  EXPECT_EQ(svg.find("<script>"), svg.npos);
  EXPECT_NE(svg.find("&lt;script>&amp;"), svg.npos);
}

}  // namespace
}  // namespace cudal1
