#include "cli/eval_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "cli/eval_table.hpp"
#include "cli/printable.hpp"
#include "cli/profile_report.hpp"
#include "cli/progress.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

//! Does what the archive is asked for, as far as the archive can.
class ArchiveAttempts {
 public:
  explicit ArchiveAttempts(const std::string& why_none) : failed_(!why_none.empty()) {
    if (failed_) report(why_none, "nothing is recorded");
  }
  template <class Action>
  void attempt(Action action) {
    try {
      action();
    } catch (const std::exception& error) {
      if (!failed_) report(error.what(), "not every result is in the archive");
      failed_ = true;
    }
  }
  bool failed() const { return failed_; }

 private:
  static void report(const std::string& error, const char* consequence) {
    report_problem(fmt::format("{} (judging goes on; {})", one_line(error), consequence));
  }
  bool failed_ = false;
};

void print_json(const std::vector<Evaluation>& evaluations) {
  json results = json::array();
  for (const Evaluation& evaluation : evaluations) results.push_back(to_json(evaluation));
  std::printf("%s\n", json{{"results", results}}.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

void print_profiles(const std::vector<Evaluation>& evaluations) {
  for (const Evaluation& evaluation : evaluations)
    if (!evaluation.profile.empty())
      std::printf("\n%s", profile_table(evaluation.program, vgpu::report_from_json(evaluation.profile)).c_str());
}

}  // namespace

int run_eval_loop(const EvalLoop& loop, const EvalOutput& output) {
  ArchiveAttempts archive(loop.why_no_archive);
  std::vector<Evaluation> evaluations;
  EvalTable table(loop.programs, output.device, output.verbose);
  for (std::size_t i = 0; i < loop.programs.size(); ++i) {
    show_progress(i, loop.programs.size(), loop.programs[i]);
    double best_known = 0.0;
    archive.attempt([&] { best_known = loop.best_known(); });
    evaluations.push_back(loop.judge_next(best_known));
    clear_progress();
    if (!output.as_json) table.print(evaluations.back());
    archive.attempt([&] { loop.record(i, evaluations.back()); });
  }
  if (output.as_json) print_json(evaluations);
  if (output.profile_report && !output.as_json) print_profiles(evaluations);
  const bool judge_failed = std::any_of(evaluations.begin(), evaluations.end(),
                                        [](const Evaluation& e) { return e.status == Status::judge_error; });
  return judge_failed || archive.failed() ? 1 : 0;
}

}  // namespace cudal1
