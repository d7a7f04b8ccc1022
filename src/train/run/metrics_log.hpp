// One row of named numbers a step, as CSV: `stage,step,…`. A name that is new becomes a further column at the end, and
// the file is written anew with it; rows before have an empty cell there. Anything else is added to the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/line_log.hpp"
#include "train/run/checkpoint.hpp"

namespace cudal1 {

//! Names and numbers, in the order of the columns; names are plain words.
using Metrics = std::vector<std::pair<std::string, double>>;

class MetricsLog {
 public:
  //! Opens or makes it. What came after `resumed`, which has so many steps of its stage, is dropped, everything where
  //! there is none, so that a run which goes on shows each step once. Throws Error, also where the file is no such CSV.
  MetricsLog(const std::filesystem::path& file, const std::optional<CheckpointName>& resumed);

  //! Steps of a stage count from 0. Returns when neither a kill nor a power cut loses it. Throws Error.
  void add(const CheckpointName& step, const Metrics& metrics);

 private:
  struct Row {
    CheckpointName step;
    std::vector<std::string> cells;  //!< the first columns; those behind are empty
  };
  void read();
  void drop_after(const CheckpointName& last);
  bool add_columns(const Metrics& metrics);
  std::string line_of(const Row& row) const;
  void write_anew();

  std::filesystem::path file_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
  std::unique_ptr<LineLog> log_;
};

}  // namespace cudal1
