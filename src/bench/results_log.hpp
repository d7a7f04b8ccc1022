// results.jsonl: a line a task, on disk as soon as it is known.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/line_log.hpp"
#include "report/bench_row.hpp"

namespace cudal1 {

//! Rows of the file, of the same task and sample the last; a line that a kill cut short is left out. None if there is
//! no file. Throws Error when it is no such file.
std::vector<BenchRow> read_results(const std::filesystem::path& file);

//! Rows of several files; the later file wins. Throws Error where they are of different devices: their times do not
//! belong in one table.
std::vector<BenchRow> merged_results(const std::vector<std::filesystem::path>& files);

//! Safe from many threads.
class ResultsLog {
 public:
  //! Opens or makes it; a line that was cut short is ended. Throws Error.
  explicit ResultsLog(const std::filesystem::path& file) : log_(file) {}
  //! Returns when neither a kill nor a power cut loses it. Throws Error.
  void append(const BenchRow& row);

 private:
  LineLog log_;
};

}  // namespace cudal1
