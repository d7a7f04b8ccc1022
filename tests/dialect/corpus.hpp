// Solutions whose file names say what must become of them: STATUS-WHAT.py, or slow-STATUS-WHAT.py where compilers run.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/sandbox.hpp"
#include "dialect/solution_judge.hpp"

namespace cudal1 {

inline std::filesystem::path solutions_folder() {
  return std::filesystem::path(CUDAL1_SOURCE_DIR) / "tests/dialect/solutions";
}

struct CorpusCase {
  std::string task;
  std::filesystem::path file;
  bool slow = false;
  std::string status;
};

inline void PrintTo(const CorpusCase& entry, std::ostream* out) { *out << entry.file.filename().string(); }

inline std::vector<CorpusCase> corpus_of(const std::string& task) {
  std::vector<CorpusCase> cases;
  for (const auto& file : files_below(solutions_folder() / task)) {
    std::string name = file.stem().string();
    if (name == "module" || file.extension() != ".py") continue;
    const bool slow = name.starts_with("slow-");
    if (slow) name = name.substr(5);
    cases.push_back({task, file, slow, name.substr(0, name.find('-'))});
  }
  return cases;
}

inline std::string case_name(const testing::TestParamInfo<CorpusCase>& info) {
  std::string name = info.param.task + "_" + info.param.file.stem().string();
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
}

inline JudgeOptions quick_options() {
  JudgeOptions options;
  options.mode = JudgeMode::fast;
  options.longest_measurement_seconds = 3.0;
  return options;
}

//! It tries what nothing else prevents (docs/dialect.md, known limits).
inline bool needs_landlock(const CorpusCase& entry) { return entry.file.stem() == "ok-kept_in"; }

//! One judge a task, for all its cases.
inline SolutionJudge& judge_for(const std::string& task, const SolutionDevice& device) {
  static std::map<std::string, std::unique_ptr<SolutionJudge>> judges;
  auto& judge = judges[task];
  if (!judge)
    judge = std::make_unique<SolutionJudge>(load_solution_task(solutions_folder() / task / "module.py"), device,
                                            quick_options());
  return *judge;
}

inline Evaluation evaluate_case(const CorpusCase& entry, const SolutionDevice& device) {
  return judge_for(entry.task, device).evaluate(entry.file.filename().string(), read_file(entry.file));
}

//! On a machine that is too busy, timing does not settle and clocks cannot be compared; nothing is believed then.
inline void expect_status(const CorpusCase& entry, const Evaluation& evaluation) {
  const bool as_named = to_string(evaluation.status) == entry.status;
  const bool timed = entry.status == "ok" || entry.status == "clock_mismatch";
  const bool restless = timed && evaluation.status == Status::unstable;
  EXPECT_TRUE(as_named || restless) << to_string(evaluation.status) << ": " << evaluation.failure.message << "\n"
                                    << evaluation.failure.details;
  if (!as_named && restless) std::cout << "not settled: " << evaluation.failure.message << "\n";
}

}  // namespace cudal1
