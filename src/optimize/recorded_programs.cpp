#include "optimize/recorded_programs.hpp"

#include "archive/evaluation_record.hpp"

namespace cudal1 {

std::vector<ScoredProgram> recorded_programs(Archive& archive, const std::string& task_hash, const std::string& gpu,
                                             Precision precision) {
  std::vector<ScoredProgram> programs;
  for (const EvaluationRecord& record : archive.evaluations(task_hash)) {
    if (record.gpu != gpu || record.precision != to_string(precision)) continue;
    const Failure failure = failure_of(record);
    const double reward = failure.status == Status::ok ? record.reward.value_or(0.0) : 0.0;
    if (auto text = archive.program_text(record.program_hash))
      programs.push_back({std::move(*text), reward, record.candidate_ms.value_or(0.0), failure,
                          failure.status == Status::ok ? profile_of(record) : std::string(),
                          record.speedup.value_or(0.0)});
  }
  return programs;
}

}  // namespace cudal1
