// What a bench found out about one task: a line of results.jsonl.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace cudal1 {

//! One of the ways in which a task was run: "program", or a baseline such as "eager".
struct WayTimes {
  std::string way;
  std::vector<double> device_ms;  //!< one a round; empty where it could not be run
  double host_ms = 0.0;           //!< median, up to the end of the device's work
  double make_seconds = 0.0;      //!< compilers included
  std::string why_not;            //!< where it could not be run, or is not predicted
};

struct BenchRow {
  std::string suite, name;
  std::optional<int> level, id;
  std::string key;      //!< of everything that the result depends on; the same key need not be measured again
  std::string program;  //!< for people: where it comes from
  int sample = 0;
  std::string status;  //!< a status of the judge; "no_program", "no_task"; "failed" when it could not be measured
  std::string error;   //!< one line
  std::string device;  //!< empty: it never came to one, so nobody has found out what follows
  bool own_kernels = false;
  bool degenerate = false;     //!< the output does not depend on the inputs
  bool predicted = false;      //!< by a model, not measured
  std::vector<WayTimes> ways;  //!< the same number of rounds for each that was run
  double seconds = 0.0;        //!< of measuring

  //! And its times say how fast it is.
  bool is_correct() const { return status == "ok"; }
  const WayTimes* find(const std::string& way) const;
  bool has_times() const;
  bool came_to_a_device() const { return !device.empty(); }
  //! "level1/19_ReLU"
  std::string label() const;
};

inline constexpr const char* program_way = "program";

nlohmann::json to_json(const BenchRow& row);
//! Throws Error when it is none.
BenchRow bench_row_from_json(const nlohmann::json& json);

}  // namespace cudal1
