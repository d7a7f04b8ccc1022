// A run's metrics.csv, read: a number for each stage, step and name, where there is one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/line_chart.hpp"

namespace cudal1 {

class MetricsTable {
 public:
  //! A row that a kill cut short has the numbers that it has; no file is an empty table. Throws Error for a file of
  //! another kind.
  static MetricsTable read(const std::filesystem::path& file);
  static MetricsTable parse(std::string_view text, const std::string& origin);

  //! Steps are counted from 1. Cells that are empty or no number are left out.
  std::vector<ChartPoint> curve(std::string_view stage, std::string_view name) const;
  double sum(std::string_view stage, std::string_view name) const;
  std::size_t steps(std::string_view stage) const;

 private:
  struct Row {
    std::string stage;
    double step = 0.0;
    std::vector<std::string> cells;  //!< behind stage and step
  };
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

}  // namespace cudal1
