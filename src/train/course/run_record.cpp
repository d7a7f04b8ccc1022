#include "train/course/run_record.hpp"

#include <algorithm>
#include <cmath>

#include "base/files.hpp"
#include "base/result.hpp"
#include "graph/json_place.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path record_file(const fs::path& run) { return run / "record.json"; }

json to_json(const RecordedStage& stage) {
  json made = cudal1::to_json(stage.end);
  made["judged_on"] = stage.on.judged_on;
  made["predicted"] = stage.on.is_predicted;
  made["model_on"] = stage.on.model_on;
  return made;
}

TrialFigures figures_at(const JsonPlace& place) {
  return {.first_success = place.at("first_success").number(),
          .first_distinct = place.at("first_distinct_plans").number(),
          .reward = place.at("reward").number(),
          .later_reward = place.at("later_reward").number(),
          .best_log = std::log(place.at("best_speedup").number()),
          .copy_rate = place.at("copy_rate").number()};
}

RecordedStage stage_at(const JsonPlace& place) {
  RecordedStage made{{.stage = place.at("stage").text(),
                      .steps = place.at("steps").integer(),
                      .why_stopped = place.at("stopped").text()},
                     {place.at("judged_on").text(), place.at("predicted").boolean(), place.at("model_on").text()}};
  if (const auto figures = place.find("validation")) made.end.validated = figures_at(*figures);
  return made;
}

}  // namespace

json to_json(const StageEnd& stage) {
  json made{{"stage", stage.stage}, {"steps", stage.steps}, {"stopped", stage.why_stopped}};
  if (const auto& validated = stage.validated)
    made["validation"] = {{"first_success", validated->first_success},
                          {"first_distinct_plans", validated->first_distinct},
                          {"reward", validated->reward},
                          {"later_reward", validated->later_reward},
                          {"best_speedup", std::exp(validated->best_log)},
                          {"copy_rate", validated->copy_rate}};
  return made;
}

void record_stage(const fs::path& run, const RecordedStage& stage) {
  std::vector<RecordedStage> stages = recorded_stages(run);
  std::erase_if(stages, [&](const RecordedStage& other) { return other.end.stage == stage.end.stage; });
  stages.push_back(stage);
  json rows = json::array();
  for (const RecordedStage& each : stages) rows.push_back(to_json(each));
  const json made{{"stages", rows}};
  write_file_atomically(record_file(run), made.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

std::vector<RecordedStage> recorded_stages(const fs::path& run) {
  std::error_code problem;
  if (!fs::exists(record_file(run), problem)) return {};
  const std::string origin = record_file(run).string();
  const json said = parse_json(read_file(record_file(run)), origin);
  const JsonPlace rows = JsonPlace(said, origin).at("stages");
  rows.expect_array();
  std::vector<RecordedStage> stages;
  for (std::size_t i = 0; i < rows.size(); ++i) stages.push_back(stage_at(rows.at(i)));
  return stages;
}

}  // namespace cudal1
