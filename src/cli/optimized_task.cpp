#include "cli/optimized_task.hpp"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "cli/effects_table.hpp"
#include "cli/package_export.hpp"
#include "cli/printable.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

//! A name that Python can import.
std::string package_name(const std::string& task) {
  std::string name;
  for (const unsigned char c : task) name += std::isalnum(c) != 0 ? static_cast<char>(c) : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "task_" + name;
  return name + "_fast";
}

std::string interval_text(const TimingSummary& timing, bool predicted) {
  return predicted ? "predicted" : fmt::format("[{:.2f}, {:.2f}]", timing.low, timing.high);
}

std::string best_text(const Evaluation& best) {
  return fmt::format("  best {:.2f}x {} over PyTorch's library calls, {:.4f} ms -> {:.4f} ms on {}\n",
                     best.timing->speedup, interval_text(*best.timing, best.predicted), best.timing->reference_ms,
                     best.timing->candidate_ms, best.device);
}

//! The reward is the speed-up rounded toward 1: what is not above it is no gain that anybody could see.
std::string no_gain_text(const Evaluation& best) {
  const bool gains = best.reward.value_or(0.0) > 1.0;
  return gains ? "" : "  nothing that was tried is faster: the module is better left as it is\n";
}

std::string places_text(const OptimizedTask& task) {
  std::string text;
  if (!task.program.empty()) text += fmt::format("  program  {}\n", printable(task.program.string()));
  if (!task.package.empty())
    text +=
        fmt::format("  package  {} ({})\n", printable(task.package.string()), printable(how_to_import(task.package)));
  else if (!task.why_no_package.empty())
    text += fmt::format("  no package: {}\n", one_line(task.why_no_package));
  return text;
}

bool is_timed(const OptimizedTask& task) { return task.best && task.best->evaluation.timing; }

std::string headline(const OptimizedTask& task) {
  if (!task.error.empty()) return fmt::format("{}: {}", task.name, task.error);
  const bool right = is_timed(task) && task.best->evaluation.status == Status::ok;
  return fmt::format(
      "{}: {}", task.name,
      right ? fmt::format("best {:.2f}x", task.best->evaluation.timing->speedup) : "nothing that is right");
}

std::string head_text(const OptimizedTask& task) {
  if (!task.error.empty()) return fmt::format("{}: {}\n", printable(task.name), one_line(task.error));
  std::string text = fmt::format("{}: {} programs in {:.0f} s, {} of them right{}{}\n", printable(task.name),
                                 task.judged, task.seconds, task.right, task.stopped ? "; stopped" : "",
                                 task.exhausted ? "; there was nothing more to try" : "");
  for (const PolicyRecord& record : task.models) text += fmt::format("  {}\n", record_text(record));
  if (task.evaluations > task.judged) text += fmt::format("  {} with those of earlier runs\n", task.evaluations);
  if (is_timed(task)) return text + best_text(task.best->evaluation) + no_gain_text(task.best->evaluation);
  const std::string why = task.why_none.empty() ? "" : fmt::format(": {}", one_line(task.why_none));
  return text + fmt::format("  none that is right and could be timed{}\n", why);
}

std::string tail_text(const OptimizedTask& task) {
  if (!is_timed(task)) return {};
  std::string text;
  if (task.replaced)
    text += fmt::format("  replaces {:.0f}% of the time of the library's steps\n", 100.0 * *task.replaced);
  if (!task.effects.empty()) text += printable_lines(effects_table(task.effects, task.best->evaluation, false));
  return text + places_text(task);
}

json fields_of(const OptimizedTask& task) {
  json made{{"task", task.name},
            {"error", task.error.empty() ? json(nullptr) : json(task.error)},
            {"evaluations", task.evaluations},
            {"judged", task.judged},
            {"right", task.right},
            {"seconds", task.seconds},
            {"stopped", task.stopped},
            {"exhausted", task.exhausted},
            {"why_no_package", task.why_no_package.empty() ? json(nullptr) : json(task.why_no_package)},
            {"best", nullptr},
            {"why_none", task.why_none.empty() ? json(nullptr) : json(task.why_none)},
            {"techniques", json::array()},
            {"models", json::array()},
            {"replaced_share", task.replaced ? json(*task.replaced) : json(nullptr)},
            {"program", nullptr},
            {"package", nullptr}};
  for (const PolicyRecord& record : task.models) made["models"].push_back(to_json(record));
  if (!task.best) return made;
  made["best"] = to_json(task.best->evaluation);
  if (task.best->evaluation.timing) made["techniques"] = effects_json(task.effects, task.best->evaluation);
  if (!task.program.empty()) made["program"] = task.program.string();
  if (!task.package.empty()) made["package"] = task.package.string();
  return made;
}

}  // namespace

void write_best(OptimizedTask& task, const Task& graph, const TaskFolder& source, const fs::path& folder) {
  task.program = folder / "program.cu";
  write_file_atomically(task.program, task.best->text);
  const fs::path module = module_of(source);
  if (module.empty()) {
    task.why_no_package = "a native task has no PyTorch module that a package would stand in for";
    return;
  }
  try {
    const fs::path package = folder / package_name(task.name);
    if (fs::exists(package) && !fs::exists(package / "package.json"))
      throw Error(fmt::format("{} is there already, and is no package of ours", package.string()));
    fs::remove_all(package);
    export_judged_program(module, graph, task.best->text, package);
    task.package = package;
  } catch (const std::exception& problem) {
    task.why_no_package = problem.what();
  }
}

TaskReport report_of(const OptimizedTask& task) {
  TaskReport report;
  report.name = task.name;
  report.error = task.error;
  report.wants_another_process = task.wants_another_process;
  report.headline = headline(task);
  report.head = head_text(task);
  report.tail = tail_text(task);
  report.fields = fields_of(task);
  if (task.best) report.device = task.best->evaluation.device;
  if (task.best) report.degenerate = task.best->evaluation.degenerate_task;
  report.program = task.program;
  report.package = task.package;
  return report;
}

}  // namespace cudal1
