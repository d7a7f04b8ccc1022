#include "cli/task_report.hpp"

#include <fmt/format.h>

#include "cli/optimized_task.hpp"
#include "cli/printable.hpp"
#include "report/speedups.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

std::string interval_text(const TimingSummary& timing, bool predicted) {
  return predicted ? "predicted" : fmt::format("[{:.2f}, {:.2f}]", timing.low, timing.high);
}

void print_beside(const BenchRow& row) {
  fmt::print("  as a package, beside what PyTorch itself can do{}\n", row.predicted ? " (predicted)" : "");
  for (const std::string& baseline : baselines_of({row})) {
    const auto speedup = speedup_of(row, baseline);
    const auto milliseconds = median_ms(row, baseline);
    if (!speedup || !milliseconds) continue;
    const bool is_best = best_baseline(row.ways) == baseline;
    fmt::print("  {:>8.2f}x  {:<16}  {:<24} {:.4f} ms{}\n", speedup->speedup, interval_text(*speedup, row.predicted),
               baseline, *milliseconds, is_best ? "  the best of them" : "");
  }
}

json beside_json(const BenchRow& row) {
  json made = json::array();
  for (const std::string& baseline : baselines_of({row})) {
    const auto speedup = speedup_of(row, baseline);
    if (!speedup) continue;
    made.push_back({{"baseline", baseline},
                    {"speedup", speedup->speedup},
                    {"speedup_low", speedup->low},
                    {"speedup_high", speedup->high},
                    {"baseline_ms", median_ms(row, baseline).value_or(0.0)},
                    {"best", best_baseline(row.ways) == baseline},
                    {"predicted", row.predicted}});
  }
  return made;
}

}  // namespace

TaskReport failed_report(const std::string& name, const std::string& error) {
  OptimizedTask failed;
  failed.name = name;
  failed.error = error;
  return report_of(failed);
}

json message_of(const TaskReport& report) {
  return {{"name", report.name},
          {"error", report.error},
          {"wants_another_process", report.wants_another_process},
          {"headline", report.headline},
          {"head", report.head},
          {"tail", report.tail},
          {"fields", report.fields},
          {"device", report.device},
          {"degenerate", report.degenerate},
          {"program", report.program.string()},
          {"package", report.package.string()}};
}

TaskReport report_of_message(const json& message) {
  TaskReport report;
  report.name = message.at("name").get<std::string>();
  report.error = message.at("error").get<std::string>();
  report.wants_another_process = message.at("wants_another_process").get<bool>();
  report.headline = message.at("headline").get<std::string>();
  report.head = message.at("head").get<std::string>();
  report.tail = message.at("tail").get<std::string>();
  report.fields = message.at("fields");
  report.device = message.at("device").get<std::string>();
  report.degenerate = message.at("degenerate").get<bool>();
  report.program = message.at("program").get<std::string>();
  report.package = message.at("package").get<std::string>();
  return report;
}

void print(const TaskReport& report) {
  fmt::print("{}", report.head);
  if (report.beside) print_beside(*report.beside);
  if (!report.why_not_beside.empty()) fmt::print("  not beside PyTorch: {}\n", one_line(report.why_not_beside));
  fmt::print("{}", report.tail);
}

json to_json(const TaskReport& report) {
  json made = report.fields;
  made["baselines"] = report.beside ? beside_json(*report.beside) : json::array();
  made["why_no_baselines"] = report.why_not_beside.empty() ? json(nullptr) : json(report.why_not_beside);
  return made;
}

}  // namespace cudal1
