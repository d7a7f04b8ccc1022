#include "train/parallel/learner_process.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/line_child.hpp"
#include "base/obituary.hpp"
#include "base/result.hpp"
#include "judge/gpu_ledger.hpp"
#include "train/parallel/process_group.hpp"

namespace cudal1 {
namespace {

constexpr const char* visible_gpus = "CUDA_VISIBLE_DEVICES";

LineChild::Environment environment_of(const HoldModel& what) {
  LineChild::Environment environment = environment_with(0, {GpuLedger::variable});
  if (!what.options.on_gpu) return environment;
  std::erase_if(environment, [](const auto& variable) { return variable.first == visible_gpus; });
  environment.emplace_back(visible_gpus, gpu_of_member(std::getenv(visible_gpus), what.member));
  return environment;
}

//! Carries an order out; what was written comes back.
struct CarryOut {
  AdapterModel& model;

  WrittenAnswers operator()(const LearnPairs& order) const {
    model.learn(order.pairs, order.learning_rate);
    return {};
  }
  WrittenAnswers operator()(const ImproveAnswers& order) const {
    model.improve(order.answers, order.options, order.updates, order.learning_rate);
    return {};
  }
  WrittenAnswers operator()(const WriteAnswers& order) const { return model.answers(order.prompts); }
  WrittenAnswers operator()(const KeepReference&) const {
    model.keep_as_reference();
    return {};
  }
  WrittenAnswers operator()(const BeginStage&) const {
    model.begin_stage();
    return {};
  }
  WrittenAnswers operator()(const LoadAdapter& order) const {
    model.load_adapter(order.folder);
    return {};
  }
  WrittenAnswers operator()(const LoadOptimiser& order) const {
    model.load_optimiser(order.file);
    return {};
  }
};

}  // namespace

std::string gpu_of_member(const char* visible, std::size_t member) {
  if (visible == nullptr || *visible == '\0') return std::to_string(member);
  std::string_view left = visible;
  for (std::size_t skipped = 0; skipped < member; ++skipped) {
    const std::size_t comma = left.find(',');
    if (comma == std::string_view::npos) throw Error("there are fewer GPUs than processes");
    left.remove_prefix(comma + 1);
  }
  return std::string(left.substr(0, left.find(',')));
}

LearnerProcess::LearnerProcess(const HoldModel& what) {
  auto [ours, theirs] = Channel::pair();
  channel_ = std::move(ours);
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd messages(::open(words().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  ChildOptions options;
  options.arguments = {(executable_directory() / "cudal1-learner").string()};
  options.environment = environment_of(what);
  options.descriptors = {{theirs.descriptor(), 0}, {nothing.get(), 1}, {messages.get(), 2}};
  child_ = ChildProcess::start(options);
  channel_.send(bytes_of(what));  // whoever has gone already is found out by whoever asks first
}

std::string LearnerProcess::how_it_ended() { return obituary(child_, words()); }

void serve_as_learner(Channel channel, const std::function<ModelTurns()>& gpu_turns) {
  Message message;
  if (channel.receive(message) != Channel::Outcome::message) return;
  HoldModel what = hold_model_from(message.bytes);
  ProcessGroup group(what.member, what.size, channel);
  what.options.group = &group;
  if (what.options.on_gpu) what.options.turns = gpu_turns();
  AdapterModel model(what.options);
  while (channel.receive(message) == Channel::Outcome::message)
    group.send(0, bytes_of(std::visit(CarryOut{model}, learner_order_from(message.bytes))));
}

}  // namespace cudal1
