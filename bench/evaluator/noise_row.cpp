#include <algorithm>
#include <chrono>

#include "graph/executor.hpp"
#include "judge/task_context.hpp"
#include "judge/timing_statistics.hpp"
#include "rows.hpp"

namespace cudal1::bench {
namespace {

constexpr int calls_a_core = 150, cold_calls = 3;
constexpr std::chrono::milliseconds call_limit{60000};

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size()))];
}

nlohmann::json quantiles_us(const std::vector<double>& milliseconds) {
  nlohmann::json result;
  for (const double share : {0.05, 0.25, 0.5, 0.75, 0.95})
    result[std::to_string(static_cast<int>(100 * share)) + "%"] = 1e3 * quantile(milliseconds, share);
  return result;
}

//! The same call again and again, as it is timed.
std::vector<CallTimes> reference_calls(TaskContext& context, std::optional<int> core, Random& random,
                                       std::vector<double>& wall_ms) {
  std::vector<CallTimes> calls;
  const TensorTable constants = context.draw_constants(random.next(), false);
  context.set_reference_constants(constants);
  context.reference().use_core(core);
  for (int i = 0; i < cold_calls + calls_a_core; ++i) {
    const TensorTable leaves = context.with_inputs(constants, Distribution::native, random.next());
    const auto begin = std::chrono::steady_clock::now();
    const auto times = context.reference().call(leaves, Poison::not_a_number, call_limit, true);
    if (!times) throw Error("the reference failed: " + times.failure().message);
    if (i < cold_calls) continue;
    calls.push_back(times.value());
    wall_ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  return calls;
}

}  // namespace

// What the machine adds to a launch-bound reference from moment to moment, and how much of it the correction takes off:
// no claim of ours, but the ground all other figures stand on.
void noise_row(Backend& backend, const Setting& setting, nlohmann::json& rows) {
  Task task = load_task(setting.source_folder / "examples" / "row_softmax");
  infer_metas(task);
  Random random(secret_seed());
  TaskContext context(backend, std::move(task), PrecisionPolicy::standard, random.next());
  std::vector<std::optional<int>> cores(backend.timing_cores().begin(), backend.timing_cores().end());
  if (cores.empty()) cores.push_back(std::nullopt);
  std::vector<std::vector<CallTimes>> by_core;
  HostInfluence host;
  std::vector<double> wall_ms;  // of a call with all that the judge does around it
  for (const auto& core : cores) {
    by_core.push_back(reference_calls(context, core, random, wall_ms));
    for (const CallTimes& call : by_core.back()) host.add(call);
  }
  std::vector<double> enqueue, device;
  nlohmann::json medians = nlohmann::json::array();
  double calm = 0.0;
  for (const auto& calls : by_core) {
    std::vector<double> plain, corrected;
    for (const CallTimes& call : calls) {
      enqueue.push_back(call.enqueue_ms);
      device.push_back(call.device_ms);
      plain.push_back(call.device_ms);
      if (disturbance(call, host.floor()) > calm_limit) continue;
      calm += 1.0;
      corrected.push_back(host.undisturbed_ms(call, host.floor()));
    }
    medians.push_back({{"device_us", 1e3 * median(plain)},
                       {"corrected_us", corrected.empty() ? nlohmann::json() : nlohmann::json(1e3 * median(corrected))},
                       {"calm_calls", corrected.size()}});
  }
  rows.push_back(row("calls of a launch-bound reference that others did not disturb",
                     100.0 * calm / static_cast<double>(enqueue.size()), "%", "none: it is the machine's", true,
                     {{"calls", enqueue.size()},
                      {"enqueue_us", quantiles_us(enqueue)},
                      {"device_us", quantiles_us(device)},
                      {"wall_us", quantiles_us(wall_ms)},
                      {"medians_by_core", medians}}));
}

}  // namespace cudal1::bench
