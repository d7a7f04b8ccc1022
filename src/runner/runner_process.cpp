#include "runner/runner_process.hpp"

#include <fmt/format.h>

#include <fcntl.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/host_memory.hpp"
#include "runner/bubblewrap.hpp"
#include "runner/protocol.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int socket_descriptor = 3;

std::vector<std::string> command_line(const RunnerOptions& options) {
  std::vector<fs::path> visible = options.readable;
  visible.push_back(options.executable.parent_path());
  std::vector<std::string> arguments;
  if (options.use_bubblewrap && bubblewrap_works()) arguments = bubblewrap_arguments(visible);
  arguments.push_back(options.executable.string());
  for (const fs::path& path : visible) arguments.insert(arguments.end(), {"--readable", path.string()});
  for (const fs::path& path : options.writable) arguments.insert(arguments.end(), {"--writable", path.string()});
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  return arguments;
}

}  // namespace

Result<RunnerProcess> RunnerProcess::start(const RunnerOptions& options) {
  auto runner = spawn(options);
  if (!runner) return runner.failure();
  runner.value().begin_start(options);
  if (const auto started = runner.value().finish(); !started) return started.failure();
  return runner;
}

Result<RunnerProcess> RunnerProcess::spawn(const RunnerOptions& options) {
  auto [ours, theirs] = Channel::pair();
  ChildOptions child;
  child.arguments = command_line(options);
  child.environment = minimal_environment();
  child.environment.emplace_back("CUDA_CACHE_DISABLE", "1");  // nothing is compiled or stored in the runner
  const std::uint64_t memory_bytes = options.memory_bytes > 0 ? options.memory_bytes : share_of_free_memory_bytes();
  if (addresses_can_be_limited) child.limits.data_bytes = memory_bytes;
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  child.descriptors = {{nothing.get(), 0}, {nothing.get(), 1}, {2, 2}, {theirs.descriptor(), socket_descriptor}};
  RunnerProcess runner;
  runner.memory_bytes_ = memory_bytes;
  try {
    runner.process_ = ChildProcess::start(child);
  } catch (const Error& error) {
    return Failure{Status::judge_error, error.what()};
  }
  theirs.close();
  runner.channel_ = std::move(ours);
  runner.set_up_limit_ = options.start_limit;
  return runner;
}

// What goes wrong in these shows in finish(): the channel is closed then.

void RunnerProcess::begin_wake(bool with_library) {
  post({{protocol::request_key, protocol::wake}, {"library", with_library}}, {}, set_up_limit_);
}

void RunnerProcess::begin_start(const RunnerOptions& options) {
  json request{{protocol::request_key, protocol::start}};
  UniqueFd kernels;
  std::vector<int> descriptors;
  if (options.runtime_kernels) {
    kernels = make_sealed_memory("runtime kernels", options.runtime_kernels->binary);
    descriptors = {kernels.get()};
    request["symbols"] = options.runtime_kernels->symbols;
  }
  post(request, descriptors, set_up_limit_);
}

Result<RunnerProcess::Done> RunnerProcess::finish() {
  const auto answer = collect(set_up_limit_, set_up_limit_);
  if (!answer) return answer.failure();
  return Done{};
}

Failure RunnerProcess::death() {
  const auto exit = process_.wait_for(std::chrono::milliseconds(500));
  process_.kill();
  channel_.close();
  if (!exit) return {Status::crashed, "the runner closed its channel"};
  if (exit->exited && exit->code == protocol::exit_after_fatal_error)
    return {Status::illegal_access, "the program accessed memory that is not its own"};
  if (exit->exited && exit->code == protocol::exit_without_memory)
    return {Status::out_of_memory,
            fmt::format("needs more of the host's memory than the {:.1f} GiB that the runner may take",
                        static_cast<double>(memory_bytes_) / (1 << 30))};
  return {Status::crashed, fmt::format("the runner ended with {} {}", exit->exited ? "code" : "signal", exit->code)};
}

Failure RunnerProcess::overdue(std::chrono::milliseconds limit) {
  process_.kill();
  channel_.close();
  return {Status::timeout, fmt::format("not finished within {} ms; killed", limit.count())};
}

std::optional<Failure> RunnerProcess::post(const json& request, const std::vector<int>& descriptors,
                                           std::chrono::milliseconds limit) {
  const Channel::Outcome outcome = channel_.send(request.dump(), descriptors, limit);
  if (outcome == Channel::Outcome::closed) return death();
  if (outcome == Channel::Outcome::timeout) return overdue(limit);
  return std::nullopt;
}

Result<json> RunnerProcess::ask(const json& request, const std::vector<int>& descriptors,
                                std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + limit;
  if (auto failure = post(request, descriptors, limit)) return *failure;
  return collect(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()), limit);
}

Result<json> RunnerProcess::collect(std::chrono::milliseconds left, std::chrono::milliseconds limit) {
  Message message;
  const Channel::Outcome outcome = channel_.receive(message, left);
  if (outcome == Channel::Outcome::closed) return death();
  if (outcome == Channel::Outcome::timeout) return overdue(limit);
  json answer = json::parse(message.bytes, nullptr, false);
  if (!answer.is_object() || !answer.contains("ok") || !answer["ok"].is_boolean()) {
    process_.kill();
    return Failure{Status::crashed, "the runner's answer cannot be read"};
  }
  if (answer["ok"].get<bool>()) return answer;
  const Failure failure = protocol::failure_from_json(answer);
  const auto fatal = answer.find("fatal");
  if (fatal == answer.end() || !fatal->is_boolean() || fatal->get<bool>()) process_.kill();
  return failure;
}

Result<RunnerProcess::Done> RunnerProcess::ask_for_done(const json& request, const std::vector<int>& descriptors,
                                                        std::chrono::milliseconds limit) {
  const auto answer = ask(request, descriptors, limit);
  if (!answer) return answer.failure();
  return Done{};
}

Result<RunnerProcess::Done> RunnerProcess::map(const Arena& arena, const ArenaLayout& layout) {
  return ask_for_done({{protocol::request_key, protocol::map},
                       {"bytes", layout.bytes},
                       {"op_region_offset", layout.op_region_offset},
                       {"op_region_bytes", layout.op_region_bytes}},
                      {arena.descriptor()}, set_up_limit_);
}

void RunnerProcess::begin_load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) {
  const UniqueFd binary = make_sealed_memory("module", module.binary);
  post({{protocol::request_key, protocol::load},
        {"plan", plan_to_json(plan)},
        {"symbols", module.symbols},
        {"tf32_convolution", flags.tf32_convolution},
        {"tf32_matmul", flags.tf32_matmul}},
       {binary.get()}, set_up_limit_);
}

Result<RunnerProcess::Done> RunnerProcess::load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) {
  begin_load(plan, module, flags);
  return finish();
}

Result<RunnerProcess::Done> RunnerProcess::prepare(const BufferOffsets& offsets, std::chrono::milliseconds limit) {
  return ask_for_done({{protocol::request_key, protocol::prepare}, {"offsets", protocol::offsets_to_json(offsets)}}, {},
                      limit);
}

void RunnerProcess::get_ready() {
  const json request{{protocol::request_key, protocol::ready}};
  // What goes wrong here shows in the call that follows: a channel that timed out is closed.
  channel_.send(request.dump(), {}, set_up_limit_);
}

Result<CallTimes> RunnerProcess::call(const BufferOffsets& offsets, std::chrono::milliseconds limit,
                                      const CallOptions& options) {
  const auto answer = ask({{protocol::request_key, protocol::call},
                           {"offsets", protocol::offsets_to_json(offsets)},
                           {"hold_device", options.hold_device},
                           {"time_steps", options.time_steps}},
                          {}, limit);
  if (!answer) return answer.failure();
  const auto number = [&](const char* name) {
    const auto found = answer.value().find(name);
    return found != answer.value().end() && found->is_number() ? found->get<double>() : std::nan("");
  };
  const CallTimes times{number("device_ms"),
                        number("host_ms"),
                        number("enqueue_ms"),
                        protocol::gate_from_json(answer.value()),
                        protocol::findings_from_json(answer.value()),
                        protocol::printed_from_json(answer.value()),
                        answer.value().value("profile", ""),
                        protocol::step_times_from_json(answer.value())};
  const bool possible = std::isfinite(times.device_ms) && std::isfinite(times.host_ms) &&
                        std::isfinite(times.enqueue_ms) && times.device_ms > 0.0 && times.enqueue_ms >= 0.0;
  if (!possible) return Failure{Status::crashed, "the runner gave no possible times"};
  return times;
}

Result<RunnerProcess::Done> RunnerProcess::unload() {
  return ask_for_done({{protocol::request_key, protocol::unload}}, {}, set_up_limit_);
}

}  // namespace cudal1
