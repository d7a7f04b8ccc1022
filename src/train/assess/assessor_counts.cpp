#include "train/assess/assessor_counts.hpp"

#include <fmt/format.h>

#include "base/result.hpp"
#include "train/cheats.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {

void count(AssessorCounts& counts, const Assessment& assessment) {
  ++counts.assessed;
  if (assessment.is_known) ++counts.known;
  if (is_cheat(assessment.outcome.status)) ++counts.caught[std::string(to_string(assessment.outcome.status))];
}

std::string hash_of_empty_plan(const TrainingTask& task) {
  const auto plan = plan_program(task.task.graph, "");
  if (!plan) throw Error(fmt::format("{}: the empty program has no plan: {}", task.task.name, plan.failure().message));
  return plan.value().hash;
}

}  // namespace cudal1
