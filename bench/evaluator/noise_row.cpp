#include <algorithm>
#include <chrono>

#include "base/value_or_throw.hpp"
#include "graph/executor.hpp"
#include "judge/task_context.hpp"
#include "rows.hpp"

namespace cudal1::bench {
namespace {

constexpr int calls = 600, cold_calls = 3;
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

struct Clocks {
  std::vector<double> device_ms, enqueue_ms, wall_ms;  //!< wall: with all that the judge does around a call

  nlohmann::json quantiles() const {
    return {{"calls", device_ms.size()},
            {"device_us", quantiles_us(device_ms)},
            {"enqueue_us", quantiles_us(enqueue_ms)},
            {"wall_us", quantiles_us(wall_ms)}};
  }
  double spread_percent() const { return 100.0 * (quantile(device_ms, 0.95) / quantile(device_ms, 0.05) - 1.0); }
};

//! The same call again and again, as it is timed.
Clocks reference_calls(TaskContext& context, bool hold, Random& random) {
  Clocks clocks;
  const TensorTable constants = context.draw_constants(random.next(), false);
  context.set_reference_constants(constants);
  context.reference().hold_device(hold);
  for (int i = 0; i < cold_calls + calls; ++i) {
    const TensorTable leaves = context.with_inputs(constants, Distribution::native, random.next());
    const auto begin = std::chrono::steady_clock::now();
    const CallTimes times = value_or_throw(context.reference().call(leaves, Poison::not_a_number, call_limit, true),
                                           "the reference failed");
    if (i < cold_calls || times.gate == Gate::expired) continue;
    const auto end = std::chrono::steady_clock::now();
    clocks.device_ms.push_back(times.device_ms);
    clocks.enqueue_ms.push_back(times.enqueue_ms);
    clocks.wall_ms.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
  }
  return clocks;
}

}  // namespace

// What the machine adds to a call from moment to moment, and what is left of it on the device's clock when the device
// waits until the call is enqueued: no claim of ours, but the ground all other figures stand on.
void noise_row(Backend& backend, const Setting& setting, nlohmann::json& rows) {
  Task task = load_task(setting.source_folder / "examples" / "row_softmax");
  infer_metas(task);
  Random random(secret_seed());
  TaskContext context(backend, std::move(task), PrecisionPolicy::standard, random.next());
  const Clocks free = reference_calls(context, false, random);
  const Clocks held = reference_calls(context, true, random);
  rows.push_back(row("device time of one call, from its 5% to its 95% quantile, device held back until it is enqueued",
                     held.spread_percent(), "%", "none: it is the machine's", true, held.quantiles()));
  rows.push_back(row("device time of one call, from its 5% to its 95% quantile, not held back", free.spread_percent(),
                     "%", "none: it is the machine's", true, free.quantiles()));
}

}  // namespace cudal1::bench
