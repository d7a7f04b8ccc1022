#include "cli/optimized_task.hpp"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "cli/effects_table.hpp"
#include "cli/package_export.hpp"
#include "cli/printable.hpp"
#include "report/speedups.hpp"

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

void print_best(const Evaluation& best) {
  fmt::print("  best {:.2f}x {} over PyTorch's library calls, {:.4f} ms -> {:.4f} ms on {}\n", best.timing->speedup,
             interval_text(*best.timing, best.predicted), best.timing->reference_ms, best.timing->candidate_ms,
             best.device);
}

void print_beside(const BenchRow& row) {
  fmt::print("  as a package, beside what PyTorch itself can do{}\n", row.predicted ? " (predicted)" : "");
  for (const std::string& baseline : baselines_of({row})) {
    const auto speedup = speedup_of(row, baseline);
    const auto milliseconds = median_ms(row, baseline);
    if (!speedup || !milliseconds) continue;
    const bool is_best = best_baseline(row) == baseline;
    fmt::print("  {:>8.2f}x  {:<16}  {:<24} {:.4f} ms{}\n", speedup->speedup, interval_text(*speedup, row.predicted),
               baseline, *milliseconds, is_best ? "  the best of them" : "");
  }
}

void print_places(const OptimizedTask& task) {
  if (!task.program.empty()) fmt::print("  program  {}\n", printable(task.program.string()));
  if (!task.package.empty())
    fmt::print("  package  {} ({})\n", printable(task.package.string()), printable(how_to_import(task.package)));
  else if (!task.why_no_package.empty())
    fmt::print("  no package: {}\n", one_line(task.why_no_package));
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
                    {"best", best_baseline(row) == baseline},
                    {"predicted", row.predicted}});
  }
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

std::string headline(const OptimizedTask& task) {
  const bool timed = task.best && task.best->evaluation.status == Status::ok && task.best->evaluation.timing;
  return fmt::format(
      "{}: {}", task.name,
      timed ? fmt::format("best {:.2f}x", task.best->evaluation.timing->speedup) : "nothing that is right");
}

void print(const OptimizedTask& task) {
  if (!task.error.empty()) {
    fmt::print("{}: {}\n", printable(task.name), one_line(task.error));
    return;
  }
  fmt::print("{}: {} programs in {:.0f} s, {} of them right{}{}\n", printable(task.name), task.judged, task.seconds,
             task.right, task.stopped ? "; stopped" : "", task.exhausted ? "; there was nothing more to try" : "");
  if (task.evaluations > task.judged) fmt::print("  {} with those of earlier runs\n", task.evaluations);
  if (!task.best || !task.best->evaluation.timing) {
    fmt::print("  none that is right and could be timed\n");
    return;
  }
  print_best(task.best->evaluation);
  if (task.beside) print_beside(*task.beside);
  if (!task.why_not_beside.empty()) fmt::print("  not beside PyTorch: {}\n", one_line(task.why_not_beside));
  if (task.replaced) fmt::print("  replaces {:.0f}% of the time of the library's steps\n", 100.0 * *task.replaced);
  if (!task.effects.empty())
    fmt::print("{}", printable_lines(effects_table(task.effects, task.best->evaluation, false)));
  print_places(task);
}

json to_json(const OptimizedTask& task) {
  json made{{"task", task.name},
            {"error", task.error.empty() ? json(nullptr) : json(task.error)},
            {"evaluations", task.evaluations},
            {"judged", task.judged},
            {"right", task.right},
            {"seconds", task.seconds},
            {"stopped", task.stopped},
            {"exhausted", task.exhausted},
            {"why_no_package", task.why_no_package.empty() ? json(nullptr) : json(task.why_no_package)},
            {"why_no_baselines", task.why_not_beside.empty() ? json(nullptr) : json(task.why_not_beside)},
            {"best", nullptr},
            {"baselines", task.beside ? beside_json(*task.beside) : json::array()},
            {"techniques", json::array()},
            {"replaced_share", task.replaced ? json(*task.replaced) : json(nullptr)},
            {"program", nullptr},
            {"package", nullptr}};
  if (!task.best) return made;
  made["best"] = cudal1::to_json(task.best->evaluation);
  if (task.best->evaluation.timing) made["techniques"] = effects_json(task.effects, task.best->evaluation);
  if (!task.program.empty()) made["program"] = task.program.string();
  if (!task.package.empty()) made["package"] = task.package.string();
  return made;
}

}  // namespace cudal1
