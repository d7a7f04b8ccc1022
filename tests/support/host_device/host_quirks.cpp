#include "host_device/host_quirks.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace cudal1 {
namespace {

constexpr const char* variable = "CUDAL1_HOST_QUIRKS";  // children of ours get what starts with CUDAL1_
constexpr int exit_code = 3;

class QuirkyPlan : public LoadedPlan {
 public:
  QuirkyPlan(std::unique_ptr<LoadedPlan> loaded, const Plan& plan, std::span<std::byte> arena, const HostQuirks& quirks)
      : loaded_(std::move(loaded)), plan_(plan), arena_(arena), quirks_(quirks) {}

  void prepare(const BufferOffsets& offsets) override { loaded_->prepare(offsets); }

  CallTimes call(const BufferOffsets& offsets, const CallOptions& options) override {
    ++calls_;
    return plan_.has_launches() ? call_kernels(offsets, options) : call_library(offsets, options);
  }

 private:
  CallTimes call_library(const BufferOffsets& offsets, const CallOptions& options) {
    if (quirks_.last_library_call > 0 && calls_ > quirks_.last_library_call) ::_exit(exit_code);
    CallTimes times = said_to_take(quirks_.library_ms, loaded_->call(offsets, options));
    if (!quirks_.cannot_be_held) return with_slow_host(times, options);
    times.device_ms = times.host_ms = 2.0 * times.device_ms;
    return times;
  }

  CallTimes call_kernels(const BufferOffsets& offsets, const CallOptions& options) {
    const double factor = looks_usual(offsets) ? 1.0 : quirks_.unusual_factor;
    CallTimes times =
        with_slow_host(said_to_take(factor * quirks_.kernels_ms, loaded_->call(offsets, options)), options);
    if (quirks_.calls_per_phase > 0 && calls_ / quirks_.calls_per_phase % 2 == 1)
      times.device_ms = times.host_ms = 2.0 * times.device_ms;
    times.host_ms += quirks_.unseen_ms;
    const int wrong_call = calls_ - quirks_.last_right_call;
    if (quirks_.last_right_call > 0 && wrong_call > 0 && wrong_call <= quirks_.wrong_calls) spoil_first_output(offsets);
    return times;
  }

  CallTimes said_to_take(double milliseconds, const CallTimes& measured) const {
    if (milliseconds <= 0.0) return measured;
    CallTimes times;
    times.device_ms = times.host_ms = milliseconds;
    times.steps = measured.steps;
    const double steps = static_cast<double>(times.steps.steps.size());
    times.steps.empty_ms = 0.1 * milliseconds;
    for (StepTime& step : times.steps.steps) step.milliseconds = times.steps.empty_ms + 0.9 * milliseconds / steps;
    return times;
  }

  CallTimes with_slow_host(CallTimes times, const CallOptions& options) const {
    const bool late = calls_ % 3 == 0 && quirks_.slow_host_factor != 1.0;
    times.gate = !options.hold_device ? Gate::unused : late && quirks_.gate_expires ? Gate::expired : Gate::held;
    // A kernel that is not held back waits for the host too.
    if (quirks_.cannot_be_held && times.gate == Gate::unused) times.device_ms = times.host_ms = 2.0 * times.device_ms;
    if (late && times.gate != Gate::held) {
      times.device_ms *= quirks_.slow_host_factor;
      times.host_ms *= quirks_.slow_host_factor;
    }
    return times;
  }

  //! Both signs, sizes around one, not all equal: what a program sees that looks at its first input.
  bool looks_usual(const BufferOffsets& offsets) const {
    constexpr int looked_at = 64;
    for (const TensorRef& value : plan_.values) {
      if (value.buffer < 0 || plan_.buffers[static_cast<std::size_t>(value.buffer)].role != BufferRole::input) continue;
      const auto* numbers =
          reinterpret_cast<const float*>(arena_.data() + offsets[static_cast<std::size_t>(value.buffer)]);
      float smallest = numbers[0], largest = numbers[0];
      for (int i = 0; i < std::min<std::int64_t>(looked_at, value.meta.numel()); ++i) {
        smallest = std::min(smallest, numbers[i]);
        largest = std::max(largest, numbers[i]);
      }
      return smallest < -0.1f && largest > 0.1f && largest < 10.0f;
    }
    return true;
  }

  void spoil_first_output(const BufferOffsets& offsets) const {
    const TensorRef& output = plan_.values[static_cast<std::size_t>(plan_.outputs.at(0))];
    std::byte* first = arena_.data() + offsets[static_cast<std::size_t>(output.buffer)] + output.byte_offset;
    if (quirks_.wrong_by != 0.0f)
      *reinterpret_cast<float*>(first) += quirks_.wrong_by;
    else
      for (int i = 0; i < size_in_bytes(output.meta.dtype); ++i) first[i] = ~first[i];
  }

  std::unique_ptr<LoadedPlan> loaded_;
  Plan plan_;
  std::span<std::byte> arena_;
  HostQuirks quirks_;
  int calls_ = 0;
};

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostQuirks, kernels_ms, library_ms, unseen_ms, calls_per_phase, last_right_call,
                                   wrong_calls, wrong_by, last_library_call, slow_host_factor, gate_expires,
                                   cannot_be_held, unusual_factor)

void pass_quirks_to_runners(const HostQuirks& quirks) { ::setenv(variable, nlohmann::json(quirks).dump().c_str(), 1); }

HostQuirks quirks_of_this_runner() {
  const char* text = std::getenv(variable);
  return text ? nlohmann::json::parse(text).get<HostQuirks>() : HostQuirks{};
}

std::unique_ptr<LoadedPlan> with_quirks(std::unique_ptr<LoadedPlan> loaded, const Plan& plan,
                                        std::span<std::byte> arena, const HostQuirks& quirks) {
  return std::make_unique<QuirkyPlan>(std::move(loaded), plan, arena, quirks);
}

}  // namespace cudal1
