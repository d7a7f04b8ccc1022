// What came of one task of `optimize`, as it is shown: made by the process that searched, completed and printed by the
// one that started it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "report/bench_row.hpp"

namespace cudal1 {

struct TaskReport {
  std::string name, error;                 //!< an error, and nothing else is there
  bool wants_another_process = false;      //!< to go on in: this one's GPU has failed
  std::string headline;                    //!< "level1/19_ReLU: best 2.31x": while others are still searched for
  std::string head, tail;                  //!< for people: above and below the comparison with PyTorch's own ways
  nlohmann::json fields;                   //!< for programs, without that comparison
  std::string device;                      //!< where the best program was judged
  bool degenerate = false;                 //!< the task, as its judge found
  std::filesystem::path program, package;  //!< empty: there is none
  std::optional<BenchRow> beside;          //!< the package and PyTorch's own ways, in one run
  std::string why_not_beside;
};

TaskReport failed_report(const std::string& name, const std::string& error);

//! From one process to the other: all but the comparison.
nlohmann::json message_of(const TaskReport& report);
TaskReport report_of_message(const nlohmann::json& message);  //!< throws json::exception

void print(const TaskReport& report);
nlohmann::json to_json(const TaskReport& report);

}  // namespace cudal1
