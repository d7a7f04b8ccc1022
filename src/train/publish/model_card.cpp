#include "train/publish/model_card.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/files/model_store.hpp"
#include "train/publish/shared_command.hpp"

namespace cudal1 {
namespace {

bool is_starting_model(const FinishedRun& run) { return run.base_sha256 == starting_model.sha256; }

std::string base_text(const FinishedRun& run) {
  if (!is_starting_model(run)) return run.base_name;
  return fmt::format("SmolLM2-135M-Instruct, the file {} (`cudal1 models fetch`)", run.base_name);
}

std::string licence_text(const FinishedRun& run) {
  return fmt::format("The adapter: Apache-2.0, as cudal1. The model under it {}.",
                     is_starting_model(run) ? "is Apache-2.0 as well" : "has a licence of its own");
}

//! What Hugging Face reads.
std::string front_matter(const FinishedRun& run) {
  const std::string base = is_starting_model(run) ? "base_model: HuggingFaceTB/SmolLM2-135M-Instruct\n" : "";
  return fmt::format("---\nlicense: apache-2.0\nlibrary_name: peft\n{}tags: [cuda, lora, cudal1]\n---\n", base);
}

std::string facts(const FinishedRun& run, std::int64_t bytes) {
  return fmt::format(
      "| | |\n|---|---|\n"
      "| base model | {} |\n"
      "| its SHA-256 | `{}` |\n"
      "| adapter | LoRA of rank {} (alpha {:g}) on {} linear layers, bf16, {} |\n"
      "| begun with | {} |\n",
      base_text(run), run.base_sha256, run.rank, run.alpha, run.modules, size_text(bytes), run.version);
}

std::string families_text(const TaskSettings& tasks) {
  return tasks.families.empty() ? "all families" : fmt::format("families: {}", fmt::join(tasks.families, ", "));
}

std::string data_text(const FinishedRun& run) {
  const TaskSettings& tasks = run.config.tasks;
  return fmt::format(
      "Generated tasks, none of a benchmark (seed {}): {} to learn from, {} to validate with; {}; references of {:g} "
      "to {:g} µs. {} pairs of prompt and program were made of programs that cudal1's own writer makes for the former.\n",
      tasks.seed, tasks.train, tasks.validation, families_text(tasks), tasks.reference_us_low,
      tasks.reference_us_high, run.pairs);
}

//! Each once, in their order.
std::string joined(const std::vector<std::string>& all, const char* between) {
  std::vector<std::string> once;
  for (const std::string& each : all)
    if (std::ranges::find(once, each) == once.end()) once.push_back(each);
  return fmt::format("{}", fmt::join(once, between));
}

std::string hardware_text(const std::vector<RunStart>& starts) {
  if (starts.empty()) return "not on record | not on record";
  std::vector<std::string> judges, models;
  for (const RunStart& start : starts) {
    judges.push_back(start.judge + (start.is_predicted ? " (predicted times)" : " (measured times)"));
    models.push_back(start.model_device);
  }
  return fmt::format("{} | {}", joined(judges, " and "), joined(models, " and "));
}

std::string commands_text(const std::vector<RunStart>& starts) {
  if (starts.empty()) return "With which command it was made is not on record.\n";
  std::vector<std::string> commands;
  for (const RunStart& start : starts) commands.push_back(shared_command(start.command));
  return fmt::format("Made in {} start{} of:\n```\n{}\n```\n", starts.size(), starts.size() == 1 ? "" : "s",
                     joined(commands, "\n"));
}

std::string stages_text(const FinishedRun& run) {
  std::string text = "| stage | steps | programs judged on | model computed on |\n|---|---|---|---|\n";
  for (const FinishedStage& stage : run.stages)
    text += fmt::format("| {} | {} | {} |\n", stage.stage, stage.steps, hardware_text(stage.starts));
  const std::int64_t processes = run.config.run.processes;
  return text + fmt::format("\nSeed {}{}. {}`config.toml` has every setting; the same run again:\n"
                            "```\n./cudal1 train config.toml -o RUN\n```\n",
                            run.config.run.seed, processes > 1 ? fmt::format(", {} processes", processes) : "",
                            commands_text(run.starts));
}

std::string row_of(const FinishedStage& stage) {
  if (!stage.validated) return fmt::format("| {} | not validated | | | |\n", stage.stage);
  const StageValidation& found = *stage.validated;
  return fmt::format("| {} | {:.0f}% | {:.1f} | {:.3f} | {:.2f}x |\n", stage.stage, 100.0 * found.first_success,
                     found.first_distinct, found.reward, std::exp(found.best_log));
}

std::string prediction_text(const FinishedRun& run) {
  const auto predicted = std::ranges::count_if(run.starts, &RunStart::is_predicted);
  const bool are_all = run.starts.empty() ? run.config.judge.device == "vgpu" : predicted == std::ssize(run.starts);
  if (are_all) return " Speed-ups are predictions, no measurements.";
  return predicted > 0 ? " Some speed-ups are predictions, no measurements." : "";
}

std::string results_text(const FinishedRun& run) {
  std::string text = fmt::format(
      "On {} tasks that it did not learn from, two rounds of four samples each, of which the second sees what the "
      "first found.{}\n\n"
      "| after | first samples that are successes | distinct plans of a task's first four | mean reward | best, "
      "geometric mean |\n|---|---|---|---|---|\n",
      run.config.tasks.validation, prediction_text(run));
  for (const FinishedStage& stage : run.stages) text += row_of(stage);
  return text;
}

}  // namespace

std::string size_text(std::int64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
}

std::string model_card(const FinishedRun& run, const std::string& name, std::int64_t bytes) {
  return fmt::format(
      "{}# {}\n\nTeaches a small language model to write CUDA programs that are faster than PyTorch's library calls, "
      "for `cudal1 optimize`. Written by `cudal1 models publish` from the folder of the training run.\n\n"
      "{}\n## Data\n{}\n## Training\n{}\n## Results\n{}\n## Use\n"
      "```\n./cudal1 optimize my_module.py --policy local --adapter {}\n```\n"
      "`prompt.json` says how it was asked while it was trained; cudal1 asks in the same way. PEFT loads the folder as "
      "any adapter.\n\n## Licence\n{}\n",
      front_matter(run), name, facts(run, bytes), data_text(run), stages_text(run), results_text(run), name,
      licence_text(run));
}

}  // namespace cudal1
