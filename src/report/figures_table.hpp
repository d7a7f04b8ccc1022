// Figures as tables, for a terminal and for Markdown.
#pragma once

#include <string>
#include <vector>

#include "report/bench_row.hpp"

namespace cudal1 {

//! The first row is the heading; columns from `first_number` on are numbers and stand to the right.
struct TextTable {
  std::vector<std::vector<std::string>> rows;
  std::size_t first_number = 1;

  std::string plain() const;
  std::string markdown() const;
};

//! By level and kind of program, against every baseline and against the best.
TextTable figures_table(const std::vector<BenchRow>& rows);
TextTable fast_p_table(const std::vector<BenchRow>& rows);
//! A line a task: times, speed-ups, and what went wrong.
TextTable task_table(const std::vector<BenchRow>& rows);

//! What a table does not say: degenerate tasks, failures, predictions. A line each; often none.
std::vector<std::string> remarks(const std::vector<BenchRow>& rows);

}  // namespace cudal1
