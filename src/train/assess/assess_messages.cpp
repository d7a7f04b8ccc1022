#include "train/assess/assess_messages.hpp"

#include <nlohmann/json.hpp>

namespace cudal1 {

using nlohmann::json;

json to_json(const AssessSetting& setting) {
  return {{"device", setting.device},
          {"gpu", setting.gpu},
          {"archive", setting.archive.string()},
          {"jobs", setting.jobs},
          {"bytes_for_input_sets", setting.bytes_for_input_sets},
          {"beside_others", setting.beside_others},
          {"seed", setting.seed}};
}

AssessSetting assess_setting_from(const json& said) {
  return {said.at("device").get<std::string>(),
          said.at("gpu").get<std::string>(),
          said.at("archive").get<std::string>(),
          said.at("jobs").get<int>(),
          said.at("bytes_for_input_sets").get<std::uint64_t>(),
          said.at("beside_others").get<bool>(),
          said.at("seed").get<std::uint64_t>()};
}

json to_json(const AssessRequest& request) {
  return {{"family", request.family},
          {"graph", request.graph_json},
          {"programs", request.programs},
          {"afresh", request.afresh}};
}

AssessRequest assess_request_from(const json& said) {
  return {said.at("family").get<std::string>(), said.at("graph").get<std::string>(),
          said.at("programs").get<std::vector<std::string>>(), said.at("afresh").get<bool>()};
}

json to_json(const Assessment& assessment) {
  const SampleOutcome& outcome = assessment.outcome;
  return {{"status", std::string(to_string(outcome.status))},
          {"plan_hash", outcome.plan_hash},
          {"speedup", outcome.speedup},
          {"speedup_low", outcome.speedup_low},
          {"speedup_high", outcome.speedup_high},
          {"replaced_share", outcome.replaced_share},
          {"message", assessment.message},
          {"techniques", assessment.techniques},
          {"measured_again", assessment.is_measured_again},
          {"known", assessment.is_known}};
}

Assessment assessment_from(const json& said) {
  Assessment made;
  made.outcome = {status_from_string(said.at("status").get<std::string>()).value_or(Status::judge_error),
                  said.at("plan_hash").get<std::string>(),
                  said.at("speedup").get<double>(),
                  said.at("speedup_low").get<double>(),
                  said.at("speedup_high").get<double>(),
                  said.at("replaced_share").get<double>()};
  made.message = said.at("message").get<std::string>();
  made.techniques = said.at("techniques").get<std::vector<std::string>>();
  made.is_measured_again = said.at("measured_again").get<bool>();
  made.is_known = said.at("known").get<bool>();
  return made;
}

}  // namespace cudal1
