#include "cli/eval_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudal1 {
namespace {

std::string place(const Failure& failure) {
  if (failure.at.line <= 0) return "";
  if (failure.at.column <= 0) return fmt::format("line {}: ", failure.at.line);
  return fmt::format("line {}, column {}: ", failure.at.line, failure.at.column);
}

std::string outcome(const Evaluation& e) {
  if (!e.timing) return e.status == Status::ok ? "correct; not timed" : place(e.failure) + e.failure.message;
  const TimingSummary& t = *e.timing;
  std::string text = fmt::format("{:.2f}x  [{:.3f}, {:.3f}]  {:.4f} ms -> {:.4f} ms", t.speedup, t.low, t.high,
                                 t.reference_ms, t.candidate_ms);
  if (t.tie) text += "  tie";
  if (t.launch_bound()) text += "  launch-bound";
  if (e.deterministic && !*e.deterministic) text += "  not bit-equal between runs";
  if (!e.failure.message.empty()) text += "  " + e.failure.message;
  return text;
}

void print_details(const Evaluation& e) {
  for (const OutputError& error : e.errors)
    fmt::print("    '{}' on {} inputs: {:.3g} of its error budget (max {:.3g} of {:.3g}, rms {:.3g} of {:.3g})\n",
               error.output, error.distribution, error.margin(), error.max_error, error.max_budget, error.rms_error,
               error.rms_budget);
  fmt::print("    {} launches, {} op steps, compiled in {:.2f} s{}, judged in {:.2f} s, seed {}\n", e.launches,
             e.op_steps, e.compile_seconds, e.compiled_from_cache ? " (cached)" : "", e.seconds, e.seed);
  if (e.timing)
    fmt::print("    on the device {:.4f} ms -> {:.4f} ms, to enqueue {:.4f} ms -> {:.4f} ms, {} pairs, {} processes\n",
               e.timing->reference_device_ms, e.timing->candidate_device_ms, e.timing->reference_enqueue_ms,
               e.timing->candidate_enqueue_ms, e.timing->pairs, e.timing->processes);
  if (!e.failure.details.empty()) fmt::print("{}\n", e.failure.details);
}

}  // namespace

void EvalTable::print(const std::string& device) const {
  std::size_t name_width = 7, status_width = 6;
  for (const Evaluation& e : rows_) {
    name_width = std::max(name_width, e.program.size());
    status_width = std::max(status_width, to_string(e.status).size());
  }
  if (!rows_.empty())
    fmt::print("{} on {}: speed-up over PyTorch [95% interval]{}\n", rows_.front().task, device,
               rows_.front().degenerate_task ? "; degenerate task: its output does not depend on its inputs" : "");
  for (const Evaluation& e : rows_) {
    fmt::print("{:<{}}  {:<{}}  {}\n", e.program, name_width, to_string(e.status), status_width, outcome(e));
    if (verbose_) print_details(e);
  }
}

}  // namespace cudal1
