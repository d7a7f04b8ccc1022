#include "train/report/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/lines.hpp"
#include "base/result.hpp"
#include "train/run/checkpoint.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

//! Lines of a log; the last one may be cut short while the run goes on.
template <class Use>
void for_each_object(const fs::path& file, const Use& use) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (const json said = json::parse(line, nullptr, false); said.is_object()) use(said);
}

json identity_of(const fs::path& folder) {
  const fs::path file = folder / "run.json";
  if (!fs::exists(file)) throw Error(fmt::format("{}: is no training run: it has no run.json", folder.string()));
  json identity = json::parse(read_file(file), nullptr, false);
  if (!identity.is_object()) throw Error(fmt::format("{}: cannot be read", file.string()));
  return identity;
}

std::vector<TrainingExample> samples_of(const fs::path& file) {
  std::vector<TrainingExample> samples;
  if (!fs::exists(file)) return samples;
  const std::string text = read_file(file);
  const auto whole = static_cast<std::ptrdiff_t>(std::ranges::count(text, '\n'));
  for_each_line(text, [&](std::string_view line, int number) {
    if (number <= whole)
      samples.push_back(example_from_json_line(line, fmt::format("{}:{}", file.string(), number)));
  });
  return samples;
}

std::set<std::string> plans_of_the_writer(const fs::path& file) {
  std::set<std::string> plans;
  for_each_object(file, [&](const json& task) {
    for (const json& program : task.value("right", json::array())) plans.insert(program.value("plan_hash", ""));
  });
  return plans;
}

std::optional<double> number_in(const json& said, const char* name) {
  const auto found = said.find(name);
  return found != said.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::vector<Suspicion> suspicions_of(const fs::path& file) {
  std::vector<Suspicion> all;
  for_each_object(file, [&](const json& said) {
    all.push_back({said.value("kind", ""), said.value("task", ""), said.value("message", ""),
                   said.value("step", std::int64_t{0}), number_in(said, "speedup"), number_in(said, "best_before"),
                   said.value("measured_again", false)});
  });
  return all;
}

std::vector<StageProgress> stages_of(const RunRecord& run, const std::vector<Checkpoint>& checkpoints) {
  std::vector<StageProgress> stages;
  for (const std::string& stage : run.config.run.stages) {
    StageProgress progress{.stage = stage, .steps = run.metrics.steps(stage)};
    for (const Checkpoint& each : checkpoints)
      if (each.name().stage == stage && each.notes().value("finished", false)) {
        progress.is_through = true;
        progress.why_stopped = each.notes().value("why_stopped", "");
      }
    stages.push_back(std::move(progress));
  }
  return stages;
}

std::optional<WatchedSoFar> watched_until(const std::vector<Checkpoint>& checkpoints) {
  std::optional<WatchedSoFar> last;
  for (const Checkpoint& each : checkpoints) {
    const json watch = each.notes().value("watch", json());
    if (each.name().stage != "contrastive" || !watch.is_object()) continue;
    last = {each.name().step,
            {watch.value("reward", 0.0), watch.value("rechecked_reward", 0.0), watch.value("jumps", std::int64_t{0}),
             watch.value("caught", std::map<std::string, std::int64_t>{})}};
  }
  return last;
}

}  // namespace

std::optional<bool> RunRecord::is_predicted() const {
  if (!starts.empty()) return std::ranges::any_of(starts, &RunStart::is_predicted);
  if (config.judge.device == "auto") return std::nullopt;
  return config.judge.device == "vgpu";
}

std::string RunRecord::judged_on() const {
  std::string names;
  for (const RunStart& start : starts)
    if (names.find(start.judge) == std::string::npos) names += (names.empty() ? "" : " and ") + start.judge;
  if (!names.empty()) return names;
  if (config.judge.device == "vgpu") return fmt::format("the virtual GPU, as {}", config.judge.gpu);
  return config.judge.device == "cuda" ? "a GPU whose name was not written down" : "a device that was not written down";
}

RunRecord read_run(const fs::path& folder) try {
  RunRecord run;
  run.folder = folder;
  const json identity = identity_of(folder);
  run.base_model = identity.value("base_model", "");
  run.version = identity.value("version", "");
  run.config = load_training_config(folder / "config.toml");
  const RunHistory history(folder / "history.jsonl");
  run.starts = history.starts();
  run.validations = history.validations();
  run.metrics = MetricsTable::read(folder / "metrics.csv");
  run.samples = samples_of(folder / "samples.jsonl");
  run.writers_plans = plans_of_the_writer(folder / "variants.jsonl");
  run.suspicions = suspicions_of(folder / "suspicions.jsonl");
  const std::vector<Checkpoint> checkpoints = finished_checkpoints(folder / "checkpoints");
  run.stages = stages_of(run, checkpoints);
  run.watched = watched_until(checkpoints);
  return run;
} catch (const json::exception& problem) {
  throw Error(fmt::format("{}: a file of it cannot be read: {}", folder.string(), problem.what()));
}

}  // namespace cudal1
