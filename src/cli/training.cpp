#include "cli/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "accelerator/cuda_decoder.hpp"
#include "cli/device_choice.hpp"
#include "cli/model_device.hpp"
#include "cli/stop_on_interrupt.hpp"
#include "device/cuda/driver.hpp"
#include "model/files/model_store.hpp"
#include "train/assess/assessor_pool.hpp"
#include "train/course/training_course.hpp"
#include "train/course/training_tasks.hpp"
#include "train/parallel/parallel_model.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t most_slots_on_cpu = 16;  // each step computes them all; more only take memory

//! Where programs are judged.
struct JudgedOn {
  std::string device;  //!< "cuda" or "vgpu"
  std::string name;
  vgpu::GpuProfile gpu;
};

//! Nothing of it stays with this process: judges have processes of their own.
JudgedOn judged_on(const JudgeSettings& settings) {
  VgpuOptions vgpu;
  vgpu.gpu = settings.gpu;
  const std::unique_ptr<Backend> backend = choose_backend(settings.device, vgpu);
  return {backend->predicted() ? "vgpu" : "cuda", backend->info().name, profile_for(*backend, settings.gpu)};
}

bool is_on_gpu(const ModelSettings& settings) {
  if (settings.device == "cpu") return false;
  const std::string why_not = why_no_cuda_decoder();
  if (settings.device == "cuda" && !why_not.empty()) throw Error("model.device: " + why_not);
  return why_not.empty();
}

AdapterModelOptions model_options(const TrainingConfig& config) {
  AdapterModelOptions made;
  made.model = config.model.path.empty() ? default_model() : config.model.path;
  made.adapter = config.model.adapter;
  made.rank = config.model.rank;
  made.alpha = config.model.alpha;
  made.seed = config.run.seed;
  made.on_gpu = is_on_gpu(config.model);
  made.dtype = config.model.dtype != "auto" ? config.model.dtype : made.on_gpu ? "bf16" : "f32";
  made.slots = made.on_gpu ? config.run.slots : std::min(config.run.slots, most_slots_on_cpu);
  made.context_tokens = config.run.context_tokens;
  made.tokens_at_once = config.run.tokens_at_once;
  made.longest_gradient = config.run.longest_gradient;
  made.weight_decay = config.run.weight_decay;
  if (made.on_gpu) made.take_turn = turns_on_gpu();
  return made;
}

ParallelModelOptions parallel_options(const TrainingConfig& config, const AdapterModelOptions& model) {
  std::string reason;
  if (const int gpus = model.on_gpu ? cuda::device_count(reason) : 0; model.on_gpu && config.run.processes > gpus)
    throw UsageError(fmt::format("run.processes is {}, but there are {} GPUs; each process takes one",
                                 config.run.processes, gpus));
  return {.processes = static_cast<std::size_t>(config.run.processes), .writes_together = model.on_gpu};
}

AssessorPoolOptions judge_options(const TrainingConfig& config, const JudgedOn& on, const RunFolder& folder) {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int jobs = config.judge.jobs > 0 ? static_cast<int>(config.judge.jobs) : cores;
  AssessorPoolOptions made;
  made.setting.device = on.device;
  made.setting.gpu = config.judge.gpu;
  made.setting.archive = config.judge.archive.empty() ? folder.archive() : config.judge.archive;
  made.processes = on.device == "cuda" ? std::clamp(cores / 2, 1, 6) : std::min(cores, 2);
  made.setting.jobs = std::max(1, jobs / made.processes);
  made.threads = std::max(1, cores / made.processes);
  made.stop = StopOnInterrupt::is_requested;
  return made;
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void print_end(const CourseEnd& end, const RunFolder& folder, const Assessor& assessor) {
  for (const StageEnd& stage : end.stages) {
    if (stage.validated)
      fmt::print("{:<16} {:>5} steps  {:>3.0f}% of first samples right  reward {:>6.3f}  best {:.2f}x\n", stage.stage,
                 stage.steps, 100.0 * stage.validated->first_success, stage.validated->reward,
                 std::exp(stage.validated->best_log));
    else
      fmt::print("{:<16} {:>5} steps{}\n", stage.stage, stage.steps, end.stopped ? "" : "  (before)");
    if (!stage.why_stopped.empty()) fmt::print("  stopped: {}\n", stage.why_stopped);
  }
  const AssessorCounts counts = assessor.counts();
  fmt::print("{} programs judged in {:.0f} s, {} of them known before\n", counts.assessed, counts.seconds,
             counts.known);
  for (const auto& [status, count] : counts.caught) fmt::print("caught: {} {}\n", count, status);
  if (end.stopped)
    fmt::print("stopped; the same command goes on from the last checkpoint in {}\n", folder.checkpoints().string());
  else
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

void print_json(const CourseEnd& end, const RunFolder& folder, const Assessor& assessor, const JudgedOn& on) {
  const AssessorCounts counts = assessor.counts();
  nlohmann::json stages = nlohmann::json::array();
  for (const StageEnd& stage : end.stages) stages.push_back(to_json(stage));
  const nlohmann::json made{{"run", folder.path().string()},
                            {"device", on.name},
                            {"predicted", on.device == "vgpu"},
                            {"stopped", end.stopped},
                            {"adapter", end.stopped ? "" : folder.adapter().string()},
                            {"judged", counts.assessed},
                            {"known", counts.known},
                            {"caught", counts.caught},
                            {"stages", stages}};
  fmt::print("{}\n", made.dump(2));
}

}  // namespace

int train(const TrainingConfig& config, const std::filesystem::path& path, bool as_json) {
  const StopOnInterrupt interrupt;
  ProgressLine progress(stderr);
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const auto say = [&](const std::string& line) {
    progress.clear();
    fmt::print(stderr, "{}\n", line);
  };
  const JudgedOn on = judged_on(config.judge);
  const AdapterModelOptions of_model = model_options(config);
  ParallelModel model(of_model, parallel_options(config, of_model));
  RunFolder folder(path, config, model.base_sha256());
  say(fmt::format("{} a run in {}: judged on {}, seed {}", folder.is_new() ? "begins" : "goes on with", path.string(),
                  on.name, config.run.seed));
  const std::vector<TrainingTask> to_train = make_tasks(TaskSplit::train, config.tasks, on.gpu);
  const std::vector<TrainingTask> to_validate = make_tasks(TaskSplit::validation, config.tasks, on.gpu);
  AssessorPoolOptions judging = judge_options(config, on, folder);
  judging.report = say;
  AssessorPool assessor(std::move(judging));
  CourseParts parts{&model, &assessor, to_train, to_validate, on.gpu};
  parts.stop = StopOnInterrupt::is_requested;
  parts.say = say;
  parts.step = [&](const StepReport& report) { progress.show(report, seconds()); };
  parts.seconds_since_1970 = seconds_since_1970;
  const CourseEnd end = TrainingCourse(config, folder, std::move(parts)).run();
  progress.clear();
  as_json ? print_json(end, folder, assessor, on) : print_end(end, folder, assessor);
  const bool collapsed = !end.stages.empty() && !end.stages.back().why_stopped.empty();
  return collapsed ? 1 : 0;
}

}  // namespace cudal1
