// One answer of a policy and what became of it: a line of samples.jsonl.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace cudal1 {

struct SampleRow {
  std::string suite, name;
  std::optional<int> level, id;
  std::string key;          //!< of everything that the answer depends on; with the same key it need not be drawn again
  int sample = 0;           //!< its number, from 0
  std::string policy;       //!< who gave it: "local", "remote", "search"
  std::string answer;       //!< "program", or another outcome of an answer, or one of the names below; empty: not asked
  std::string status;       //!< the judge's of a program; of anything else `answer`; "no_task"; "failed"
  std::string error;        //!< one line
  std::string program;      //!< its text; of one that was cut off, as far as it goes
  std::string device;       //!< empty: it never came to one
  bool degenerate = false;  //!< the task's output does not depend on its inputs
  bool predicted = false;   //!< the times are, by a model
  std::optional<double> speedup, speedup_low, speedup_high;  //!< over the reference
  std::optional<double> reference_ms, candidate_ms;
  int repairs = 0;  //!< how often it went back with an error
  std::int64_t prompt_tokens = 0, new_tokens = 0;
  double cost = 0.0;
  double seconds = 0.0;  //!< of judging

  bool is_right() const { return status == "ok"; }
  //! Right, and more than p times as fast as the reference.
  bool is_faster_than(double p) const { return is_right() && speedup && *speedup > p; }
  //! Whether another try would say the same: not of what could not be asked, judged or timed.
  bool is_final() const;
  //! "level1/19_ReLU"
  std::string label() const;
};

inline constexpr const char* not_answered = "not_answered";          //!< by a server, or by whatever generates texts
inline constexpr const char* nothing_proposed = "nothing_proposed";  //!< a search had nothing more to try
inline constexpr const char* no_task_status = "no_task";             //!< it could not be exported
inline constexpr const char* failed_status = "failed";               //!< its process did not come so far

nlohmann::json to_json(const SampleRow& row);
//! Throws Error when it is none.
SampleRow sample_row_from_json(const nlohmann::json& said);

//! By suite, level, number, name and sample.
void sort_samples(std::vector<SampleRow>& rows);

//! Rows of these files; of the same task and sample the last one counts, a line that a kill cut short is left out. A
//! file that is not there has none. Throws Error when one is no such file, or they are of different devices.
std::vector<SampleRow> read_samples(const std::vector<std::filesystem::path>& files);

}  // namespace cudal1
