#include "cli/training.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "cli/gpu_watch.hpp"
#include "cli/stop_on_interrupt.hpp"
#include "cli/training_parts.hpp"
#include "train/ablation/ablation_course.hpp"
#include "train/course/training_course.hpp"
#include "train/course/training_tasks.hpp"

namespace cudal1 {
namespace {

void print_end(const CourseEnd& end, const RunFolder& folder, const Assessor& assessor) {
  for (const StageEnd& stage : end.stages) {
    if (stage.validated)
      fmt::print("{:<16} {:>5} steps  {:>3.0f}% of first samples right  reward {:>6.3f}  best {:.2f}x\n", stage.stage,
                 stage.steps, 100.0 * stage.validated->first_success, stage.validated->reward,
                 std::exp(stage.validated->best_log));
    else
      fmt::print("{:<16} {:>5} steps{}\n", stage.stage, stage.steps, end.stopped ? "" : "  (not validated now)");
    if (!stage.why_stopped.empty()) fmt::print("  stopped: {}\n", stage.why_stopped);
  }
  const AssessorCounts counts = assessor.counts();
  fmt::print("{} programs judged in {:.0f} s, {} of them known before\n", counts.assessed, counts.seconds,
             counts.known);
  for (const auto& [status, count] : counts.caught) fmt::print("caught: {} {}\n", count, status);
  if (end.stopped)
    fmt::print("stopped; the same command goes on from the last checkpoint in {}\n", folder.checkpoints().string());
  else if (std::filesystem::exists(folder.adapter()))  // nothing is left of weights that give no numbers
    fmt::print("adapter  {}\n", folder.adapter().string());
}

nlohmann::json to_json(const StageEnd& stage) {
  nlohmann::json made{{"stage", stage.stage}, {"steps", stage.steps}, {"stopped", stage.why_stopped}};
  if (const auto& validated = stage.validated)
    made["validation"] = {{"first_success", validated->first_success},
                          {"first_distinct_plans", validated->first_distinct},
                          {"reward", validated->reward},
                          {"later_reward", validated->later_reward},
                          {"best_speedup", std::exp(validated->best_log)},
                          {"copy_rate", validated->copy_rate}};
  return made;
}

void print_json(const CourseEnd& end, const RunFolder& folder, const Assessor& assessor, const JudgedOn& on,
                const std::optional<GpuIdle>& idle) {
  const AssessorCounts counts = assessor.counts();
  nlohmann::json stages = nlohmann::json::array();
  for (const StageEnd& stage : end.stages) stages.push_back(to_json(stage));
  const bool has_adapter = !end.stopped && std::filesystem::exists(folder.adapter());
  const nlohmann::json made{{"run", folder.path().string()},
                            {"device", on.name},
                            {"predicted", on.device == "vgpu"},
                            {"stopped", end.stopped},
                            {"adapter", has_adapter ? folder.adapter().string() : ""},
                            {"judged", counts.assessed},
                            {"known", counts.known},
                            {"caught", counts.caught},
                            {"gpu_idle_share", idle ? nlohmann::json(idle->share) : nlohmann::json()},
                            {"stages", stages}};
  fmt::print("{}\n", made.dump(2));
}

}  // namespace

int train(const TrainingConfig& config, const std::filesystem::path& path, const std::string& command, bool as_json) {
  if (is_ablation(path)) throw Error(fmt::format("{}: has an ablation; name another folder", path.string()));
  const StopOnInterrupt interrupt;
  TrainingWatcher watcher;
  const JudgedOn on = judged_on(config.judge);
  GpuWatch gpu(on.device == "cuda" || is_on_gpu(config.model));
  const std::unique_ptr<LearningModel> model = model_to_train(config);
  RunFolder folder(path, config, model->base_sha256());
  watcher.say(fmt::format("{} a run in {}: judged on {}, seed {}", folder.is_new() ? "begins" : "goes on with",
                          path.string(), on.name, config.run.seed));
  const RunHistory history(folder.history());
  history.begin(start_of(config, on, command));
  const std::vector<TrainingTask> to_train = make_tasks(TaskSplit::train, config.tasks, on.gpu);
  const std::vector<TrainingTask> to_validate = make_tasks(TaskSplit::validation, config.tasks, on.gpu);
  AssessorPoolOptions judging = judge_options(config, on, folder.archive());
  judging.report = watcher.sayer();
  AssessorPool assessor(std::move(judging));
  CourseParts parts{model.get(), &assessor, to_train, to_validate, on.gpu, on.name};
  parts.stop = StopOnInterrupt::is_requested;
  parts.say = watcher.sayer();
  parts.step = watcher.shower();
  parts.seconds_since_1970 = seconds_since_1970;
  parts.gpu_idle = gpu.asker();
  const CourseEnd end = TrainingCourse(config, folder, std::move(parts)).run();
  history.end(seconds_since_1970(), !end.stopped);
  watcher.clear();
  as_json ? print_json(end, folder, assessor, on, gpu.over_all()) : print_end(end, folder, assessor);
  const bool collapsed = !end.stages.empty() && !end.stages.back().why_stopped.empty();
  return collapsed ? 1 : 0;
}

}  // namespace cudal1
