#include "train/training_step.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <utility>

#include "base/result.hpp"
#include "train/gradient_clipping.hpp"

namespace cudal1 {
namespace {

std::vector<ParameterGroup> groups_of(const std::map<std::string, at::Tensor>& parameters, double weight_decay) {
  ParameterGroup matrices{{}, 1.0, weight_decay}, others;
  for (const auto& [name, parameter] : parameters)
    (parameter.dim() > 1 ? matrices : others).parameters[name] = parameter;
  std::vector<ParameterGroup> groups;
  for (ParameterGroup& group : {std::ref(matrices), std::ref(others)})
    if (!group.parameters.empty()) groups.push_back(std::move(group));
  return groups;
}

//! Flash attention, which training in 16 bits goes through, takes heads of whole vectors only.
void check_heads(const Transformer& model) {
  if (model.options().device.is_cuda() && model.options().dtype != at::kFloat && model.config().head_size % 8 != 0)
    throw Error(fmt::format("heads of {} elements can be trained on a GPU in f32 only, not in 16 bits",
                            model.config().head_size));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

template <class Work>
auto TrainingStep::on_stream(const Work& work) {
  const at::NoGradGuard no_gradients;
  try {
    if (!runtime_) return work();
    std::optional<decltype(work())> made;
    runtime_->on_stream([&] { made.emplace(work()); });
    return std::move(*made);
  } catch (const c10::OutOfMemoryError&) {
    throw Error("the GPU's memory is full; train on fewer tokens at once, and accumulate more often before an update");
  } catch (const c10::Error& error) {
    throw Error(fmt::format("training failed: {}", first_line(error.what_without_backtrace())));
  }
}

TrainingStep::TrainingStep(Transformer& model, const TrainingStepOptions& options, std::shared_ptr<GpuRuntime> runtime)
    : model_(model), options_(options), runtime_(std::move(runtime)) {
  check_heads(model);
  if (runtime_ && runtime_->device() != model.options().device)
    throw Error(fmt::format("the model is on {}, the kernels that train it are on {}", model.options().device.str(),
                            runtime_->device().str()));
  rows_ = runtime_ ? kernel_row_operations(model.config(), model.options().dtype, *runtime_)
                   : plain_row_operations(model.config());
  if (runtime_) runtime_->wait_for_everybody();  // whoever loaded the weights
  on_stream([&] {
    gradients_.emplace(model_, options_.adapter, *rows_, options_.logits_at_once);
    optimiser_.emplace(groups_of(gradients_->store().parameters(), options_.weight_decay), options_.adamw);
    return true;
  });
  wait();
}

TrainingStep::~TrainingStep() {
  try {
    wait();
  } catch (const Error&) {  // somebody has heard of it already, or does not want to
  }
}

TrainingBatch TrainingStep::pack(std::span<const TrainingText> texts) {
  return on_stream([&] { return pack_training_texts(texts, model_.options().device); });
}

at::Tensor TrainingStep::log_probabilities(const TrainingBatch& batch) {
  return on_stream([&] { return gradients_->log_probabilities(batch); });
}

at::Tensor TrainingStep::log_probabilities_of(const at::Tensor& hidden, const TrainingBatch& batch) {
  return on_stream([&] { return gradients_->log_probabilities_of(hidden, batch); });
}

at::Tensor TrainingStep::accumulate(const TrainingBatch& batch, const LossSlopes& slopes) {
  return on_stream([&] { return gradients_->accumulate(batch, slopes); });
}

at::Tensor TrainingStep::update(double learning_rate) {
  return on_stream([&] {
    at::Tensor all = gradients_->store().all();
    if (options_.add_others) options_.add_others(all);
    const at::Tensor norm = clip_by_global_norm({all}, options_.longest_gradient);
    optimiser_->step(learning_rate, norm);
    all.zero_();
    return norm;
  });
}

std::vector<float> TrainingStep::read(const at::Tensor& numbers) {
  const at::Tensor there = on_stream([&] { return numbers.to(at::kCPU, at::kFloat).contiguous(); });
  return {there.const_data_ptr<float>(), there.const_data_ptr<float>() + there.numel()};
}

void TrainingStep::wait() {
  if (runtime_) runtime_->synchronise();
}

void TrainingStep::save(const std::filesystem::path& file) {
  on_stream([&] {
    optimiser_->save(file);
    return true;
  });
}

void TrainingStep::load(const std::filesystem::path& file) {
  on_stream([&] {
    optimiser_->load(file);
    return true;
  });
}

}  // namespace cudal1
