#include "dialect/solution_session.hpp"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/tensor_at.hpp"
#include "judge/plan_session.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t alignment = 512, red_zone = 4096;
constexpr std::uint64_t most_roaming = std::uint64_t{64} << 20;
constexpr std::int64_t flushed_bytes = std::int64_t{256} << 20;
constexpr int not_a_number_byte = 0xff;
constexpr std::chrono::milliseconds copy_limit{60'000};
constexpr std::chrono::milliseconds first_call{20'000};  // libraries load what they need when it is first asked for

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

TensorMeta contiguous(TensorMeta meta) {
  meta.strides = contiguous_strides(meta.sizes);
  return meta;
}

double number_in(const json& answer, const char* key) {
  const auto found = answer.find(key);
  return found != answer.end() && found->is_number() ? found->get<double>() : std::nan("");
}

//! Some compile in their first call. Who says so without need only waits longer for a verdict.
bool may_compile_when_called(const std::string& text) {
  for (const char* word : {"compile", "triton", "load_inline", "cpp_extension", "jit", "nvrtc"})
    if (text.find(word) != std::string::npos) return true;
  return false;
}

//! Is it an input, a weight or a state, or a view of one?
bool shows_a_leaf(const OpGraph& graph, ValueId id) {
  const auto is_computed = [&](ValueId value) {
    return graph.values[static_cast<std::size_t>(value)].kind == ValueKind::node_output;
  };
  const auto& view = graph.values[static_cast<std::size_t>(id)].view;
  return !is_computed(id) || (view && !is_computed(view->base));
}

}  // namespace

SolutionSession::SolutionSession(const SolutionTask& task, const SolutionDevice& device, SolutionProgram program,
                                 PrecisionFlags flags, std::uint64_t seed)
    : task_(task), device_(device), program_(std::move(program)), flags_(flags), random_(seed) {
  plan_memory();
  arena_ = device_.make_arena(total_bytes_);
  prepared_ = at::empty({static_cast<std::int64_t>(inputs_end_ - inputs_begin_)},
                        at::TensorOptions(device_.tensors).dtype(at::kByte));
  if (device_.is_cuda()) flush_buffer_ = at::empty({flushed_bytes}, prepared_.options());
  const OpGraph& graph = task_.task.graph;
  results_show_inputs_ = std::ranges::any_of(graph.outputs, [&](ValueId id) { return shows_a_leaf(graph, id); });
}

//! Weights, states and outputs lie at fixed places; inputs roam within theirs.
void SolutionSession::plan_memory() {
  const OpGraph& graph = task_.task.graph;
  const auto place = [&](const std::vector<ValueId>& values, std::vector<Window>& windows) {
    for (const ValueId id : values) {
      const TensorMeta meta = contiguous(graph.values[static_cast<std::size_t>(id)].meta);
      windows.push_back({total_bytes_, meta});
      total_bytes_ += aligned(static_cast<std::uint64_t>(meta.span_bytes())) + alignment;
    }
  };
  place(graph.weights, weights_);
  place(graph.states, states_);
  inputs_begin_ = total_bytes_;
  std::uint64_t held = red_zone;
  for (const ValueId id : graph.inputs) {
    const TensorMeta& meta = graph.values[static_cast<std::size_t>(id)].meta;
    inputs_.push_back({0, meta});
    held += aligned(static_cast<std::uint64_t>(meta.span_bytes())) + red_zone;
  }
  roaming_bytes_ = std::clamp<std::uint64_t>(aligned(held), std::uint64_t{1} << 20, most_roaming);
  inputs_end_ = total_bytes_ = inputs_begin_ + held + roaming_bytes_;
  outputs_begin_ = total_bytes_;
  place(graph.outputs, outputs_);
}

at::Tensor SolutionSession::at(const Window& window) const {
  return tensor_at(arena_->base() + window.offset, window.meta, device_.tensors);
}

at::Tensor SolutionSession::bytes_at(std::uint64_t offset, std::uint64_t bytes) const {
  return tensor_at(arena_->base() + offset, {DType::u8, {static_cast<std::int64_t>(bytes)}, {1}}, device_.tensors);
}

json SolutionSession::to_json(const Window& window) const {
  return {{"offset", window.offset},
          {"bytes", window.meta.span_bytes()},
          {"dtype", to_string(window.meta.dtype)},
          {"sizes", window.meta.sizes},
          {"strides", window.meta.strides}};
}

std::string SolutionSession::key_of(ValueId value) const {
  for (const LeafSource& leaf : task_.task.leaves)
    if (leaf.value == value && !leaf.file_key.empty()) return leaf.file_key;
  return task_.task.graph.values[static_cast<std::size_t>(value)].name;
}

json SolutionSession::leaves_json(const std::vector<ValueId>& values, const std::vector<Window>& windows) const {
  json list = json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    list.push_back(to_json(windows[i]));
    list.back()["key"] = key_of(values[i]);
    list.back()["required"] = true;
  }
  return list;
}

Result<SolutionSession::Done> SolutionSession::done(Result<json> answer) const {
  if (!answer) return answer.failure();
  return Done{};
}

Result<SolutionSession::Done> SolutionSession::start(const std::vector<bool>& required,
                                                     std::chrono::milliseconds limit) {
  stop();
  called_ = false;
  SolutionProcessOptions options;
  options.device = device_.name();
  options.memory_bytes = device_.host_memory_bytes;
  if (!program_.file.empty()) options.readable.push_back(program_.file.parent_path());
  process_ = std::make_unique<SolutionProcess>(options, *arena_);
  if (auto failure = process_->start()) return *failure;
  const OpGraph& graph = task_.task.graph;
  json request{{"do", "load"},
               {"class", program_.class_name},
               {"interface", task_.interface_text},
               {"tf32_convolution", flags_.tf32_convolution},
               {"tf32_matmul", flags_.tf32_matmul},
               {"weights", leaves_json(graph.weights, weights_)},
               {"states", leaves_json(graph.states, states_)},
               {"outputs", json::array()}};
  for (std::size_t i = 0; i < required.size(); ++i) request["weights"][i]["required"] = static_cast<bool>(required[i]);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    request["outputs"].push_back(to_json(outputs_[i]));
    request["outputs"].back()["is_view"] = shows_a_leaf(graph, graph.outputs[i]);
  }
  request["path"] = (program_.file.empty() ? process_->text_path() : program_.file).string();
  if (program_.file.empty()) request["source"] = program_.text;
  return done(process_->ask(request, limit, Status::compile_timeout));
}

Result<SolutionSession::Done> SolutionSession::set_constants(const TensorTable& constants) {
  const OpGraph& graph = task_.task.graph;
  constants_ = constants;
  for (std::size_t i = 0; i < weights_.size(); ++i)
    at(weights_[i]).copy_(constants[static_cast<std::size_t>(graph.weights[i])]);
  device_.synchronize();
  return done(process_->ask({{"do", "weights"}, {"weights", leaves_json(graph.weights, weights_)}}, copy_limit,
                            Status::timeout));
}

void SolutionSession::choose_places() {
  std::uint64_t offset = inputs_begin_ + red_zone + random_.below(roaming_bytes_ / alignment) * alignment;
  for (Window& input : inputs_) {
    input.offset = offset;
    offset += aligned(static_cast<std::uint64_t>(input.meta.span_bytes())) + red_zone;
  }
}

//! In memory of the judge's own: the arena gets them when the clock runs.
void SolutionSession::prepare_inputs(const TensorTable& leaves) {
  prepared_.fill_(static_cast<std::int64_t>(1 + random_.below(0x3f)));
  auto* base = static_cast<std::byte*>(prepared_.data_ptr());
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    tensor_at(base + (inputs_[i].offset - inputs_begin_), inputs_[i].meta, device_.tensors)
        .copy_(leaves[static_cast<std::size_t>(task_.task.graph.inputs[i])]);
}

void SolutionSession::flush_caches() {
  if (flush_buffer_.defined()) flush_buffer_.zero_();
}

std::chrono::milliseconds SolutionSession::limit_of_next_call(const SolutionLimits& limits) {
  if (std::exchange(called_, true)) return limits.call;
  return std::max(limits.call, may_compile_when_called(program_.text) ? limits.load : first_call);
}

Result<SolutionTimes> SolutionSession::call(const TensorTable& leaves, const SolutionLimits& limits) {
  const OpGraph& graph = task_.task.graph;
  choose_places();
  prepare_inputs(leaves);
  at::Tensor arena_inputs = bytes_at(inputs_begin_, inputs_end_ - inputs_begin_);
  arena_inputs.fill_(not_a_number_byte);  // the last call's are gone
  bytes_at(outputs_begin_, total_bytes_ - outputs_begin_).fill_(not_a_number_byte);
  for (std::size_t i = 0; i < states_.size(); ++i)
    at(states_[i]).copy_(constants_[static_cast<std::size_t>(graph.states[i])]);
  device_.synchronize();
  json place{{"do", "place"}, {"inputs", json::array()}, {"states", leaves_json(graph.states, states_)}};
  for (const Window& input : inputs_) place["inputs"].push_back(to_json(input));
  if (auto placed = process_->ask(place, copy_limit, Status::timeout); !placed) return placed.failure();

  json collect{{"do", "collect"}, {"outputs", json::array()}, {"states", place["states"]}};
  for (const Window& output : outputs_) collect["outputs"].push_back(to_json(output));
  SolutionTimes times;
  const auto begin = Clock::now();
  arena_inputs.copy_(prepared_);
  flush_caches();
  device_.synchronize();
  const auto call_limit = limit_of_next_call(limits);
  const auto call_begin = Clock::now();
  const auto called = process_->ask({{"do", "call"}}, call_limit, Status::timeout);
  times.call_ms = milliseconds_since(call_begin);
  if (!called) return called.failure();
  take_inputs_away();
  if (auto collected = process_->ask(collect, copy_limit, Status::timeout); !collected) return collected.failure();
  times.total_ms = milliseconds_since(begin);
  if (auto kept = process_->ask({{"do", "keep"}}, copy_limit, Status::timeout); !kept) return kept.failure();
  times.device_ms = number_in(called.value(), "device_ms");
  times.joined_ms = number_in(called.value(), "joined_ms");
  const bool sensible = times.device_ms > 0.0 && times.device_ms <= times.call_ms && times.joined_ms >= times.device_ms;
  if (!sensible)
    return Failure{Status::clock_mismatch,
                   fmt::format("the solution's process says that a call took {:.4g} ms; the judge waited {:.4g} ms",
                               times.device_ms, times.call_ms)};
  return times;
}

//! The clock runs: whoever says that it is done has no more use for them, and whoever puts off its work needs them.
void SolutionSession::take_inputs_away() {
  violation_ = found_violation();
  if (results_show_inputs_) return;
  bytes_at(inputs_begin_, inputs_end_ - inputs_begin_).fill_(not_a_number_byte);
  device_.synchronize();
}

std::vector<at::Tensor> SolutionSession::results() const {
  std::vector<at::Tensor> results;
  for (const Window& output : outputs_) results.push_back(at(output));
  for (const Window& state : states_) results.push_back(at(state));
  return results;
}

std::optional<Failure> SolutionSession::found_violation() const {
  if (bytes_at(inputs_begin_, inputs_end_ - inputs_begin_).equal(prepared_)) return std::nullopt;
  const auto* base = static_cast<const std::byte*>(prepared_.const_data_ptr());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    void* written = const_cast<std::byte*>(base + (inputs_[i].offset - inputs_begin_));
    if (as_bits(tensor_at(written, inputs_[i].meta, device_.tensors)).equal(as_bits(at(inputs_[i])))) continue;
    const ValueId id = task_.task.graph.inputs[i];
    return Failure{Status::modified_input, fmt::format("the input '{}' was changed",
                                                       task_.task.graph.values[static_cast<std::size_t>(id)].name)};
  }
  return Failure{Status::out_of_bounds, "memory beside the inputs was written"};
}

std::optional<Failure> SolutionSession::find_changed_weight() {
  const OpGraph& graph = task_.task.graph;
  const auto shown =
      process_->ask({{"do", "show"}, {"weights", leaves_json(graph.weights, weights_)}}, copy_limit, Status::timeout);
  if (!shown) return shown.failure();
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (!as_bits(at(weights_[i])).equal(as_bits(constants_[static_cast<std::size_t>(graph.weights[i])].contiguous())))
      return Failure{Status::modified_input, fmt::format("the weight '{}' was changed", key_of(graph.weights[i]))};
  return std::nullopt;
}

}  // namespace cudal1
