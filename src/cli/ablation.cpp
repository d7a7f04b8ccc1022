#include "cli/ablation.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/files.hpp"
#include "base/result.hpp"
#include "cli/stop_on_interrupt.hpp"
#include "cli/training_parts.hpp"
#include "train/ablation/ablation_course.hpp"
#include "train/course/training_tasks.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<LearningModel> model_of(TrainingConfig config, std::uint64_t seed) {
  config.run.seed = seed;
  return model_to_train(config);
}

//! A folder says which of both it holds before it holds anything else.
void begin_or_go_on(const fs::path& folder) {
  if (is_ablation(folder)) return;
  if (fs::exists(folder / "run.json"))
    throw Error(fmt::format("{}: has a training run; name another folder for the ablation", folder.string()));
  fs::create_directories(folder / "trials");
}

//! Tables in the ablation's folder, written anew after each seed.
class FoundTables {
 public:
  FoundTables(fs::path folder, AblationProtocol protocol)
      : folder_(std::move(folder)), protocol_(std::move(protocol)) {}

  void write(const AblationScores& scores) {
    markdown_ = ablation_markdown(scores, protocol_);
    json_ = ablation_json(scores, protocol_);
    write_file_atomically(folder_ / "ablation.md", markdown_);
    write_file_atomically(folder_ / "ablation.csv", ablation_csv(scores));
    write_file_atomically(folder_ / "ablation.json", json_.dump(1) + "\n");
  }

  void print(bool is_through, bool as_json) {
    if (as_json) {
      json_["ablation"] = folder_.string();
      json_["stopped"] = !is_through;
      fmt::print("{}\n", json_.dump(2));
      return;
    }
    fmt::print("{}", markdown_);
    if (!is_through) fmt::print("stopped; the same command goes on in {}\n", folder_.string());
  }

 private:
  fs::path folder_;
  AblationProtocol protocol_;
  std::string markdown_;
  nlohmann::json json_ = nlohmann::json::object();
};

}  // namespace

int run_ablation(const TrainingConfig& config, const AblationOptions& options) {
  const AblationPlan plan{chosen_arms(options.arms), options.seeds};
  check_ablation(config, plan);
  const StopOnInterrupt interrupt;
  TrainingWatcher watcher;
  const JudgedOn on = judged_on(config.judge);
  std::unique_ptr<LearningModel> first = model_of(config, config.run.seed);
  begin_or_go_on(options.folder);
  const RunFolder folder(options.folder, config, first->base_sha256());
  watcher.say(fmt::format("{} an ablation in {}: {} arms, {} seeds, judged on {}",
                          folder.is_new() ? "begins" : "goes on with", options.folder.string(), plan.arms.size(),
                          plan.seeds, on.name));
  const RunHistory history(folder.history());
  history.begin(start_of(config, on, options.command));
  const std::vector<TrainingTask> to_train = make_tasks(TaskSplit::train, config.tasks, on.gpu);
  const std::vector<TrainingTask> to_validate = make_tasks(TaskSplit::validation, config.tasks, on.gpu);
  const std::vector<TrainingTask> to_test = make_tasks(TaskSplit::test, config.tasks, on.gpu);
  AssessorPoolOptions judging = judge_options(config, on, folder.archive());
  judging.report = watcher.sayer();
  const fs::path archive = judging.setting.archive;
  AssessorPool assessor(std::move(judging));
  FoundTables tables(options.folder,
                     {on.name, on.is_predicted(), ablation_trial(config, plan.arms.front(), config.run.seed)});
  AblationParts parts;
  parts.make_model = [&](std::uint64_t seed) {
    std::unique_ptr<LearningModel> made = std::move(first);  // its memory goes before another model comes
    return made && seed == config.run.seed ? std::move(made) : (made.reset(), model_of(config, seed));
  };
  parts.assessor = &assessor;
  parts.train = to_train;
  parts.validation = to_validate;
  parts.test = to_test;
  parts.gpu = on.gpu;
  parts.judged_on = on.name;
  parts.archive = archive;
  parts.stop = StopOnInterrupt::is_requested;
  parts.say = watcher.sayer();
  parts.step = watcher.shower();
  parts.found = [&](const AblationScores& scores) { tables.write(scores); };
  parts.seconds_since_1970 = seconds_since_1970;
  const bool is_through = Ablation(config, plan, options.folder, std::move(parts)).run();
  history.end(seconds_since_1970(), is_through);
  watcher.clear();
  tables.print(is_through, options.as_json);
  return 0;
}

}  // namespace cudal1
