#include "judge/evaluation.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "judge/error_json.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

double share(double error, double budget) {
  if (error == 0.0) return 0.0;
  return budget > 0.0 ? error / budget : std::numeric_limits<double>::infinity();
}

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json accuracy_json(const std::vector<OutputError>& errors) {
  json list = json::array();
  for (const OutputError& error : errors) {
    list.push_back({{"output", error.output},
                    {"distribution", error.distribution},
                    {"max_error", error.max_error},
                    {"max_budget", error.max_budget},
                    {"rms_error", error.rms_error},
                    {"rms_budget", error.rms_budget},
                    {"mismatches", error.mismatches},
                    {"margin", error.margin()}});
    if (error.slice.budget > 0.0)
      list.back()["slice"] = {{"dimension", error.slice.dimension},
                              {"index", error.slice.index},
                              {"error", error.slice.error},
                              {"budget", error.slice.budget},
                              {"measure", error.slice.is_rms ? "rms" : "max"}};
    if (error.part.budget > 0.0)
      list.back()["part"] = {{"below", error.part.below},
                             {"error", error.part.error},
                             {"budget", error.part.budget},
                             {"measure", error.part.is_rms ? "rms" : "max"}};
  }
  return list;
}

json details_json(const Evaluation& e) {
  json details{{"task_hash", e.task_hash},
               {"program_hash", e.program_hash},
               {"plan_hash", e.plan_hash},
               {"device", e.device},
               {"target", e.target},
               {"mode", e.mode},
               {"timing", e.timing_protocol},
               {"precision", e.precision},
               {"seed", e.seed},
               {"launches", e.launches},
               {"op_steps", e.op_steps},
               {"deterministic", or_null(e.deterministic)},
               {"degenerate_task", e.degenerate_task},
               {"compile_seconds", e.compile_seconds},
               {"compiled_from_cache", e.compiled_from_cache},
               {"seconds", e.seconds},
               {"stage_seconds", e.stage_seconds},
               {"fresh_process_checks", e.fresh_process_checks},
               {"accuracy", accuracy_json(e.errors)}};
  if (e.timing) {
    details["pairs"] = e.timing->pairs;
    details["dropped_pairs"] = e.timing->dropped_pairs;
    details["device_held"] = e.timing->device_held;
    details["reference_device_ms"] = e.timing->reference_device_ms;
    details["candidate_device_ms"] = e.timing->candidate_device_ms;
    details["device_speedup"] = e.timing->reference_device_ms / e.timing->candidate_device_ms;
    details["reference_enqueue_ms"] = e.timing->device_held ? json(e.timing->reference_enqueue_ms) : json(nullptr);
    details["candidate_enqueue_ms"] = e.timing->device_held ? json(e.timing->candidate_enqueue_ms) : json(nullptr);
    details["processes"] = e.timing->processes;
    details["buckets"] = e.timing->bucket_values;
    details["bucket_variance"] = e.timing->bucket_variance;
    details["tie"] = e.timing->tie;
  }
  if (!e.printed.empty()) details["printed"] = e.printed;
  if (!e.profile.empty()) details["profile"] = json::parse(e.profile, nullptr, false);
  return details;
}

}  // namespace

json error_json(const Failure& failure) {
  if (failure.message.empty()) return nullptr;
  json error{{"message", failure.message}};
  if (failure.at.line > 0) error["line"] = failure.at.line;
  if (failure.at.column > 0) error["column"] = failure.at.column;
  if (!failure.details.empty()) error["details"] = failure.details;
  return error;
}

double SliceError::share() const { return cudal1::share(error, budget); }
double PartError::share() const { return cudal1::share(error, budget); }

double OutputError::margin() const {
  return std::max({share(max_error, max_budget), share(rms_error, rms_budget), slice.share(), part.share()});
}

json to_json(const Evaluation& e) {
  const bool timed = e.timing.has_value();
  return {{"task", e.task},
          {"program", e.program},
          {"dialect", e.dialect},
          {"status", to_string(e.status)},
          {"reward", or_null(e.reward)},
          {"speedup", timed ? json(e.timing->speedup) : json(nullptr)},
          {"speedup_low", timed ? json(e.timing->low) : json(nullptr)},
          {"speedup_high", timed ? json(e.timing->high) : json(nullptr)},
          {"reference_ms", timed ? json(e.timing->reference_ms) : json(nullptr)},
          {"candidate_ms", timed ? json(e.timing->candidate_ms) : json(nullptr)},
          {"predicted", e.predicted},
          {"error", error_json(e.failure)},
          {"details", details_json(e)}};
}

}  // namespace cudal1
