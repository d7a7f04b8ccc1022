#include "train/publish/finished_run.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/files.hpp"
#include "base/lines.hpp"
#include "base/result.hpp"
#include "graph/json_place.hpp"
#include "train/run/checkpoint.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool is_there(const fs::path& path) {
  std::error_code problem;
  return fs::exists(path, problem);
}

[[noreturn]] void refuse_unfinished(const fs::path& run, const std::string& what) {
  throw Error(fmt::format("{}: {}; `cudal1 train {} -o {}` goes on with it", run.string(), what,
                          (run / "config.toml").string(), run.string()));
}

//! The last checkpoint of a stage; nothing: it has none that is whole.
std::optional<Checkpoint> last_of(const std::vector<Checkpoint>& checkpoints, const std::string& stage) {
  std::optional<Checkpoint> last;
  for (const Checkpoint& each : checkpoints)
    if (each.name().stage == stage) last = each;
  return last;
}

void check_finished(const fs::path& run, const TrainingConfig& config, const std::vector<Checkpoint>& checkpoints) {
  for (const std::string& stage : config.run.stages) {
    const auto last = last_of(checkpoints, stage);
    if (!last || !last->notes().value("finished", false))
      refuse_unfinished(run, fmt::format("the run has not come to its end: stage {} is not through", stage));
    if (const std::string why = last->notes().value("why_stopped", ""); !why.empty())
      throw Error(fmt::format("{}: stage {} was stopped before its end ({}): train again", run.string(), stage, why));
  }
  if (!is_there(run / "adapter" / "adapter_config.json"))
    refuse_unfinished(run, "the run has not come to its end: there is no adapter yet");
}

std::vector<FinishedStage> stages_of(const RunHistory& history, const TrainingConfig& config,
                                     const std::vector<Checkpoint>& checkpoints) {
  std::vector<FinishedStage> stages;
  for (const std::string& name : config.run.stages) {
    const std::int64_t steps = last_of(checkpoints, name)->name().step;
    stages.push_back({name, steps, history.starts_of(name), history.validation_at(name, steps)});
  }
  return stages;
}

std::int64_t lines_of(const fs::path& file) {
  std::int64_t lines = 0;
  if (is_there(file)) for_each_line(read_file(file), [&](std::string_view, int) { ++lines; });
  return lines;
}

void add_adapter(FinishedRun& run) {
  const LoraAdapter adapter = load_lora_adapter(run.adapter);
  run.base_name = adapter.base_name;
  run.rank = adapter.rank;
  run.alpha = adapter.alpha;
  run.modules = static_cast<std::int64_t>(adapter.modules.size());
  for (const auto& [path, module] : adapter.modules)
    run.numbers += static_cast<std::int64_t>(module.a.size() + module.b.size());
}

}  // namespace

FinishedRun read_finished_run(const fs::path& run) {
  if (!is_there(run / "run.json"))
    throw Error(fmt::format("{}: there is no training run (no run.json)", run.string()));
  const std::string origin = (run / "run.json").string();
  const json identity = parse_json(read_file(run / "run.json"), origin);
  const JsonPlace root(identity, origin);
  FinishedRun made;
  made.adapter = run / "adapter";
  made.config = load_training_config(run / "config.toml");
  made.version = root.at("version").text();
  made.base_sha256 = root.at("base_model").text();
  const std::vector<Checkpoint> checkpoints = finished_checkpoints(run / "checkpoints");
  check_finished(run, made.config, checkpoints);
  add_adapter(made);
  made.pairs = lines_of(run / "examples.jsonl");
  const RunHistory history(run / "history.jsonl");
  made.starts = history.starts();
  made.stages = stages_of(history, made.config, checkpoints);
  return made;
}

}  // namespace cudal1
