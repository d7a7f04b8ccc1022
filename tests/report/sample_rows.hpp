// Rows whose figures can be worked out by hand.
#pragma once

#include <string>
#include <vector>

#include "report/bench_row.hpp"

namespace cudal1 {

//! The program takes 1 ms, eager `speedup` ms, in so many rounds.
inline BenchRow sample_row(const std::string& name, double speedup, int level = 1, int id = 1, int rounds = 21) {
  BenchRow row;
  row.suite = "sample";
  row.name = name;
  row.level = level;
  row.id = id;
  row.status = "ok";
  row.device = "a GPU";
  const std::vector<double> ours(static_cast<std::size_t>(rounds), 1.0);
  const std::vector<double> theirs(static_cast<std::size_t>(rounds), speedup);
  row.ways = {{"program", ours, 1.0, 0.1, {}}, {"eager", theirs, 1.0, 0.1, {}}};
  return row;
}

inline BenchRow failed_row(const std::string& name, const std::string& status = "wrong_result", int level = 1) {
  BenchRow row = sample_row(name, 5.0, level);
  row.status = status;
  row.error = "the first element differs";
  row.ways.clear();
  return row;
}

}  // namespace cudal1
