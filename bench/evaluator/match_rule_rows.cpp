#include <algorithm>

#include "judge/judge.hpp"
#include "rows.hpp"

namespace cudal1::bench {
namespace {

double largest_margin(const Evaluation& evaluation) {
  double largest = 0.0;
  for (const OutputError& error : evaluation.errors) largest = std::max(largest, error.margin());
  return largest;
}

}  // namespace

void match_rule_rows(Backend& backend, const Setting& setting, nlohmann::json& rows) {
  int honest = 0, honest_rejected = 0, low = 0, low_accepted = 0;
  nlohmann::json margins = nlohmann::json::array();
  std::unique_ptr<TaskJudge> judge;
  std::filesystem::path current;
  for (const ExampleProgram& program : programs_below(setting.source_folder / "tests" / "match_rule")) {
    if (program.wanted_status == "undecided") continue;  // the rule promises nothing of these
    if (program.task != current) {
      judge.reset();
      JudgeOptions options;
      options.measure_time = false;
      judge = std::make_unique<TaskJudge>(backend, current = program.task, options);
    }
    const Evaluation evaluation = judge->evaluate(judge->compile(program.file, program.text));
    const bool accepted = evaluation.status == Status::ok;
    const bool is_honest = program.wanted_status == "honest";
    honest += is_honest ? 1 : 0;
    low += is_honest ? 0 : 1;
    honest_rejected += is_honest && !accepted ? 1 : 0;
    // A low-precision program must be rejected for its result, not for some accident.
    low_accepted += !is_honest && evaluation.status != Status::wrong_result ? 1 : 0;
    margins.push_back({{"task", program.task.filename().string()},
                       {"program", program.file},
                       {"status", to_string(evaluation.status)},
                       {"margin", largest_margin(evaluation)},
                       {"message", evaluation.failure.message}});
  }
  rows.push_back(row("honest variants rejected by the match rule", honest_rejected, "of " + std::to_string(honest),
                     "none of at least 40", honest_rejected == 0 && honest >= 40, margins));
  rows.push_back(row("low-precision variants accepted by the match rule", low_accepted, "of " + std::to_string(low),
                     "none of at least 20", low_accepted == 0 && low >= 20));
}

}  // namespace cudal1::bench
