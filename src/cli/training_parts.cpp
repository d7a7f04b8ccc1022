#include "cli/training_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "accelerator/cuda_decoder.hpp"
#include "base/result.hpp"
#include "cli/device_choice.hpp"
#include "cli/model_device.hpp"
#include "device/cuda/driver.hpp"
#include "model/files/model_store.hpp"
#include "train/parallel/parallel_model.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t most_slots_on_cpu = 16;  // each step computes them all; more only take memory

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
  if (made.on_gpu) made.turns = model_turns_on_gpu();
  return made;
}

ParallelModelOptions parallel_options(const TrainingConfig& config, const AdapterModelOptions& model) {
  std::string reason;
  if (const int gpus = model.on_gpu ? cuda::device_count(reason) : 0; model.on_gpu && config.run.processes > gpus)
    throw UsageError(
        fmt::format("run.processes is {}, but there are {} GPUs; each process takes one", config.run.processes, gpus));
  return {.processes = static_cast<std::size_t>(config.run.processes), .writes_together = model.on_gpu};
}

//! What computes the model, for people.
std::string model_device_name(const ModelSettings& settings) {
  if (is_on_gpu(settings)) return cuda::device_info(0).name;
  return fmt::format("a CPU, {} cores", std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

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

std::unique_ptr<LearningModel> model_to_train(const TrainingConfig& config) {
  const AdapterModelOptions of_model = model_options(config);
  return std::make_unique<ParallelModel>(of_model, parallel_options(config, of_model));
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

RunStart start_of(const TrainingConfig& config, const JudgedOn& on, const std::string& command) {
  RunStart start{.begun_s = seconds_since_1970(), .command = command, .judge = on.name, .host = processor_name()};
  start.is_predicted = on.is_predicted();
  start.model_device = model_device_name(config.model);
  return start;
}

void TrainingWatcher::say(const std::string& line) {
  progress_.clear();
  fmt::print(stderr, "{}\n", line);
}

void TrainingWatcher::show(const StepReport& report) {
  progress_.show(report, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
}

}  // namespace cudal1
