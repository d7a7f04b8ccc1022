#include "cli/eval_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/printable.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t usual_status_width = 13;  // of "compile_error"; longer ones are rare

std::string place(const Failure& failure) {
  if (failure.at.line <= 0) return "";
  if (failure.at.column <= 0) return fmt::format("line {}: ", failure.at.line);
  return fmt::format("line {}, column {}: ", failure.at.line, failure.at.column);
}

//! Whose time is what the host takes to enqueue it, which is counted and not measured.
std::string launch_bound(const TimingSummary& timing) {
  const bool reference = timing.reference_is_launch_bound(), candidate = timing.candidate_is_launch_bound();
  if (reference && candidate) return "  both launch-bound";
  return reference ? "  reference launch-bound" : candidate ? "  launch-bound" : "";
}

std::string outcome(const Evaluation& e) {
  if (!e.timing) return e.status == Status::ok ? "correct; not timed" : place(e.failure) + one_line(e.failure.message);
  const TimingSummary& t = *e.timing;
  const std::string interval = e.predicted ? "predicted" : fmt::format("[{:.3f}, {:.3f}]", t.low, t.high);
  std::string text =
      fmt::format("{:.2f}x  {}  {:.4f} ms -> {:.4f} ms", t.speedup, interval, t.reference_ms, t.candidate_ms);
  if (t.tie) text += "  tie";
  text += launch_bound(t);
  if (e.deterministic && !*e.deterministic) text += "  not bit-equal between runs";
  if (!e.failure.message.empty()) text += "  " + one_line(e.failure.message);
  return text;
}

void print_clocks(const TimingSummary& timing) {
  fmt::print("    on the device {:.4f} ms -> {:.4f} ms", timing.reference_device_ms, timing.candidate_device_ms);
  if (timing.device_held)
    fmt::print(", to enqueue (counted) {:.4f} ms -> {:.4f} ms", timing.reference_enqueue_ms,
               timing.candidate_enqueue_ms);
  else
    fmt::print(" with the host's part");
  fmt::print(", {} pairs, {} processes\n", timing.pairs, timing.processes);
}

void print_details(const Evaluation& e) {
  for (const OutputError& error : e.errors) {
    fmt::print("    '{}' on {} inputs: {:.3g} of its error budget (max {:.3g} of {:.3g}, rms {:.3g} of {:.3g}",
               error.output, error.distribution, error.margin(), error.max_error, error.max_budget, error.rms_error,
               error.rms_budget);
    if (error.slice.budget > 0.0)
      fmt::print(", index {} of dimension {} {}{:.3g} of {:.3g}", error.slice.index, error.slice.dimension,
                 error.slice.is_rms ? "rms " : "", error.slice.error, error.slice.budget);
    if (error.part.budget > 0.0)
      fmt::print(", numbers up to {:.3g} {}{:.3g} of {:.3g}", error.part.below, error.part.is_rms ? "rms " : "",
                 error.part.error, error.part.budget);
    fmt::print(")\n");
  }
  fmt::print("    {} launches, {} op steps, compiled in {:.2f} s{}, judged in {:.2f} s, seed {}\n", e.launches,
             e.op_steps, e.compile_seconds, e.compiled_from_cache ? " (cached)" : "", e.seconds, e.seed);
  if (e.timing) print_clocks(*e.timing);
  if (!e.failure.details.empty()) fmt::print("{}\n", printable_lines(e.failure.details));
}

//! Of what all evaluations have in common.
void print_heading(const Evaluation& e, const std::string& device) {
  fmt::print("{} on {}: {}speed-up over PyTorch{}{}\n", printable(e.task), device, e.predicted ? "predicted " : "",
             e.predicted ? "" : " [95% interval]",
             e.degenerate_task ? "; degenerate task: its output does not depend on its inputs" : "");
}

//! What a program prints stays apart from what is said about it.
void print_indented(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    fmt::print("    | {}\n", text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace

EvalTable::EvalTable(const std::vector<std::string>& programs, std::string device, bool verbose)
    : device_(std::move(device)), verbose_(verbose) {
  for (const std::string& program : programs) name_width_ = std::max(name_width_, printable(program).size());
  if (programs.size() > 1) status_width_ = usual_status_width;
}

void EvalTable::print(const Evaluation& e) {
  if (std::exchange(is_empty_, false)) print_heading(e, device_);
  fmt::print("{:<{}}  {:<{}}  {}\n", printable(e.program), name_width_, to_string(e.status), status_width_, outcome(e));
  if (verbose_) print_details(e);
  if (!e.printed.empty()) print_indented(e.printed);
  std::fflush(stdout);  // the next one may take long, and somebody may read along through a pipe
}

}  // namespace cudal1
