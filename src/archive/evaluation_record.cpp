#include "archive/evaluation_record.hpp"

#include <nlohmann/json.hpp>

#include "base/files.hpp"

namespace cudal1 {

EvaluationRecord to_record(const Evaluation& evaluation) {
  EvaluationRecord record;
  record.plan_hash = evaluation.plan_hash;
  record.device = evaluation.predicted ? "vgpu" : evaluation.device == "CPU" ? "cpu" : "cuda";
  record.gpu = evaluation.device;
  record.target = evaluation.target;
  record.status = to_string(evaluation.status);
  record.reward = evaluation.reward;
  if (evaluation.timing) {
    record.speedup = evaluation.timing->speedup;
    record.speedup_low = evaluation.timing->low;
    record.speedup_high = evaluation.timing->high;
    record.reference_ms = evaluation.timing->reference_ms;
    record.candidate_ms = evaluation.timing->candidate_ms;
  }
  record.deterministic = evaluation.deterministic;
  record.mode = evaluation.mode;
  record.precision = evaluation.precision;
  record.error_message = evaluation.failure.message;
  record.error_line = evaluation.failure.at.line;
  record.error_column = evaluation.failure.at.column;
  record.json = to_json(evaluation).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  record.version = "cudal1 " CUDAL1_VERSION;
  return record;
}

double best_known(Archive& archive, const std::string& task_hash, const std::string& gpu) {
  const auto best = archive.best(task_hash, gpu, 1);
  return best.empty() ? 0.0 : best.front().evaluation.reward.value_or(0.0);
}

Failure failure_of(const EvaluationRecord& record) {
  return {status_from_string(record.status).value_or(Status::judge_error),
          record.error_message,
          {record.error_line, record.error_column}};
}

std::string profile_of(const EvaluationRecord& record) {
  const auto evaluation = nlohmann::json::parse(record.json, nullptr, false);
  const nlohmann::json::json_pointer place("/details/profile");
  return evaluation.is_object() && evaluation.contains(place) ? evaluation[place].dump() : std::string();
}

std::filesystem::path archive_file(const std::filesystem::path& asked) {
  return asked.empty() ? data_directory() / "archive.sqlite" : asked;
}

std::unique_ptr<Archive> open_archive(const std::filesystem::path& asked, std::string& why_none) try {
  return std::make_unique<Archive>(archive_file(asked));
} catch (const Error& error) {
  why_none = error.what();
  return nullptr;
}

}  // namespace cudal1
