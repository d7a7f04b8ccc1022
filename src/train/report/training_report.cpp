#include "train/report/training_report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"
#include "report/markdown.hpp"
#include "train/ablation/ablation_course.hpp"
#include "train/report/ablation_section.hpp"
#include "train/report/program_progress.hpp"
#include "train/report/run_curves.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t shown_programs = 3, shown_suspicions = 20;

std::string date_text(double seconds_since_1970) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds_since_1970)));
}

std::string duration_text(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} s", seconds);
  return seconds < 5400.0 ? fmt::format("{:.0f} min", seconds / 60.0) : fmt::format("{:.1f} h", seconds / 3600.0);
}

//! Every figure of ours says whether it is a prediction.
std::string speedup_word(const RunRecord& run) {
  return run.is_predicted().value_or(false) ? "predicted speed-up" : "speed-up";
}

std::string judge_text(const RunRecord& run) {
  if (!run.is_predicted()) return run.judged_on();
  return run.judged_on() + (*run.is_predicted() ? ": every speed-up is predicted, none is measured" : ", measured");
}

std::string model_text(const RunRecord& run) {
  const fs::path& model = run.config.model.path;
  const std::string path = model.empty() ? "the product's own" : model.filename().string();
  return fmt::format("{} (SHA-256 {:.12}…), adapter of rank {}", path, run.base_model, run.config.model.rank);
}

std::string tasks_text(const TaskSettings& tasks) {
  const std::string only =
      tasks.families.empty() ? std::string() : fmt::format(", only {}", fmt::join(tasks.families, ", "));
  return fmt::format("generated: {} to learn from, {} to validate with, seed {}{}", tasks.train, tasks.validation,
                     tasks.seed, only);
}

std::string facts(const RunRecord& run) {
  std::string text = markdown_heading({"", ""});
  text += markdown_row({"model", model_text(run)}) + markdown_row({"tasks", tasks_text(run.config.tasks)}) +
          markdown_row({"seed", std::to_string(run.config.run.seed)}) + markdown_row({"judged on", judge_text(run)});
  if (!run.starts.empty())
    text += markdown_row({"model computed on", run.starts.back().model_device}) +
            markdown_row({"host", run.starts.back().host});
  return text + markdown_row({"program", run.version}) + "\n";
}

std::string end_of(const RunStart& start) {
  if (!start.ended_s) return "killed, or still going";
  return fmt::format("{} {}, after {}", start.is_through ? "through" : "stopped", date_text(*start.ended_s),
                     duration_text(*start.ended_s - start.begun_s));
}

std::string commands(const RunRecord& run) {
  if (run.starts.empty()) return "Command and times were not written down.\n\n";
  std::string text = "```\n";
  for (std::size_t i = 0; i < run.starts.size(); ++i)
    if (i == 0 || run.starts[i].command != run.starts[i - 1].command) text += run.starts[i].command + "\n";
  text += "```\n";
  for (const RunStart& start : run.starts)
    text += fmt::format("- begun {}; {}\n", date_text(start.begun_s), end_of(start));
  return text + "\n";
}

std::string state_of(const StageProgress& stage) {
  if (!stage.why_stopped.empty()) return "ended early: " + stage.why_stopped;
  if (stage.is_through) return "through";
  return stage.steps == 0 ? "not begun" : "unfinished";
}

double learning_seconds(const RunRecord& run, const std::string& stage) {
  double seconds = run.metrics.sum(stage, "learning_s");
  const std::vector<ChartPoint> tokens = run.metrics.curve(stage, "tokens");
  const std::vector<ChartPoint> speed = run.metrics.curve(stage, "tokens_per_s");
  if (tokens.size() == speed.size())
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (speed[i].y > 0.0) seconds += tokens[i].y / speed[i].y;
  return seconds;
}

std::string stage_table(const RunRecord& run) {
  std::string text = markdown_heading({"stage", "steps", "state", "writing", "judging", "learning"});
  for (const StageProgress& stage : run.stages)
    text += markdown_row({fmt::format("`{}`", stage.stage), std::to_string(stage.steps), state_of(stage),
                          duration_text(run.metrics.sum(stage.stage, "writing_s")),
                          duration_text(run.metrics.sum(stage.stage, "judging_s")),
                          duration_text(learning_seconds(run, stage.stage))});
  return text + "\n";
}

std::string validation_table(const RunRecord& run) {
  if (run.validations.empty()) return {};
  std::string text = markdown_heading({"after", "right at the first sample", "different plans of 4", "mean reward",
                                       "second round", fmt::format("best, geometric mean ({})", speedup_word(run)),
                                       "copies"});
  for (const StageValidation& each : run.validations)
    text += markdown_row({fmt::format("`{}`", each.stage), fmt::format("{:.0f}%", 100.0 * each.first_success),
                          fmt::format("{:.1f}", each.first_distinct), fmt::format("{:.3f}", each.reward),
                          fmt::format("{:.3f}", each.later_reward), fmt::format("{:.2f}x", std::exp(each.best_log)),
                          fmt::format("{:.0f}%", 100.0 * each.copy_rate)});
  return fmt::format("On {} task{} that it does not learn from, two rounds of four samples, of which the second sees "
                     "what the first found; a task without a success counts 1x:\n\n{}\n",
                     run.validations.back().tasks, run.validations.back().tasks == 1 ? "" : "s", text);
}

std::string curves(const RunRecord& run, const std::string& pictures, const std::string& prefix,
                   TrainingReport& report) {
  std::string text = "### Curves\n";
  std::vector<StagePicture> all = stage_pictures(run);
  for (StagePicture& picture : all) {
    const std::string file = fmt::format("{}-{}.svg", prefix, picture.stage);
    text += fmt::format("![Stage {} of {}]({}/{})\n\n", picture.stage, run.name(), pictures, file);
    report.pictures[file] = std::move(picture.svg);
  }
  return all.empty() ? text + "There are no numbers yet.\n\n" : text;
}

std::string whose(const FoundProgram& program) {
  return program.is_the_writers ? "; the writer had made the same plan, and prompts may have shown it" : "";
}

std::string program_text(const char* title, const FoundProgram& program, const std::string& word) {
  std::string code = program.text;
  if (!code.ends_with('\n')) code += '\n';
  return fmt::format("{}, step {}, {} {:.2f}x{}:\n````cuda\n{}````\n", title, program.step, word, program.speedup,
                     whose(program), code);
}

std::string program_section(const ProgramProgress& task, const std::string& word) {
  return fmt::format("#### `{}`: {:.2f}x -> {:.2f}x {}\n", task.task, task.earliest.speedup, task.best.speedup,
                     word == "speed-up" ? "" : "predicted") +
         fmt::format("{} of {} samples are successes. Changed: {}.\n\n", task.successes, task.samples,
                     change_in_words(task.earliest.text, task.best.text)) +
         program_text("Earliest success", task.earliest, word) + "\n" + program_text("Best", task.best, word) + "\n";
}

double median_gain(std::vector<ProgramProgress> tasks) {
  std::ranges::sort(tasks, {}, &ProgramProgress::gain);
  const std::size_t half = tasks.size() / 2;
  return tasks.size() % 2 == 1 ? tasks[half].gain() : 0.5 * (tasks[half - 1].gain() + tasks[half].gain());
}

std::string programs(const RunRecord& run) {
  std::string text = "### Programs before and after\n";
  const std::vector<ProgramProgress> tasks = progress_of_tasks(run.samples, run.writers_plans);
  if (tasks.empty()) return text + "Stage 3 has no success yet.\n\n";
  const std::size_t shown = std::min(shown_programs, tasks.size());
  text += fmt::format(
      "Rule: of all tasks of stage 3 the {} whose best success is the most times as fast as their earliest one. These "
      "are the largest, not the usual: over all {} tasks with a success the median is {:.2f}x as fast. What is early "
      "is what was sampled first, so part of a gain is luck of many draws.\n\n",
      shown, tasks.size(), std::exp(median_gain(tasks)));
  for (std::size_t i = 0; i < shown; ++i) text += program_section(tasks[i], speedup_word(run));
  return text;
}

std::string counted(const std::map<std::string, std::int64_t>& by_name) {
  std::string text;
  for (const auto& [name, count] : by_name) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  return text.empty() ? "nothing" : text;
}

std::string line_of(const Suspicion& each, const std::string& word) {
  std::string what = each.message;
  if (each.speedup)
    what = fmt::format("{} {:.2f}x, the best before {}{}", word, *each.speedup,
                       each.best_before.value_or(0.0) > 0.0 ? fmt::format("{:.2f}x", *each.best_before) : "none",
                       each.is_measured_again ? "; measured again in another process" : "");
  return markdown_row({std::to_string(each.step + 1), each.kind, fmt::format("`{}`", quoted_in_markdown(each.task)),
                       quoted_in_markdown(what)});
}

std::string hacking(const RunRecord& run) {
  std::string text = "### Rewards that were not earned\n";
  if (!run.watched && run.suspicions.empty()) return text + "Nothing was watched yet.\n\n";
  if (run.watched)
    text += fmt::format("Up to step {} of stage 3: {:.0f}% of the reward was measured twice, {} jump{} of speed, "
                        "caught: {}.\n",
                        run.watched->step, 100.0 * run.watched->counts.rechecked_share(), run.watched->counts.jumps,
                        run.watched->counts.jumps == 1 ? "" : "s", counted(run.watched->counts.caught));
  if (run.suspicions.empty()) return text + "\n";
  text += fmt::format("`suspicions.jsonl` lists {} of them with their programs{}:\n\n", run.suspicions.size(),
                      run.suspicions.size() > shown_suspicions ? fmt::format("; the first {}", shown_suspicions) : "");
  text += markdown_heading({"step", "kind", "task", "what"});
  for (std::size_t i = 0; i < std::min(shown_suspicions, run.suspicions.size()); ++i)
    text += line_of(run.suspicions[i], speedup_word(run));
  return text + "\n";
}

std::string ablation_text(const fs::path& folder, const std::string& pictures, const std::string& prefix,
                          TrainingReport& report) {
  const std::string title = fmt::format("## Ablation: {}\n", folder.filename().string());
  std::string ran;
  for (const RunStart& start : RunHistory(folder / "history.jsonl").starts())
    ran += fmt::format("- `{}`, begun {}; {}\n", quoted_in_markdown(start.command), date_text(start.begun_s),
                       end_of(start));
  if (!ran.empty()) ran += "\n";
  if (!fs::exists(folder / "ablation.json")) return title + ran + "No seed is through yet.\n\n";
  const auto json = nlohmann::json::parse(read_file(folder / "ablation.json"), nullptr, false);
  std::string text = title + ran + ablation_section(json);
  const std::string picture = ablation_picture(json);
  if (picture.empty()) return text;
  const std::string file = fmt::format("{}-differences.svg", prefix);
  report.pictures[file] = picture;
  return text + fmt::format("![bucket beside the other arms]({}/{})\n\n", pictures, file);
}

}  // namespace

std::string run_section(const RunRecord& run, const std::string& pictures, const std::string& prefix,
                        TrainingReport& report) {
  return fmt::format("## Run: {}\n", run.name()) + facts(run) + commands(run) + stage_table(run) +
         validation_table(run) + curves(run, pictures, prefix, report) + programs(run) + hacking(run);
}

TrainingReport training_report(const std::vector<fs::path>& folders, const std::string& command,
                               const std::string& pictures) {
  TrainingReport report;
  std::string text = fmt::format("# What training came to\nMade by `{}` from what the runs have written.\n\n",
                                 quoted_in_markdown(command));
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::string prefix = std::to_string(i + 1);
    const fs::path folder = folders[i].has_filename() ? folders[i] : folders[i].parent_path();  // without a last slash
    text += is_ablation(folder) ? ablation_text(folder, pictures, prefix, report)
                                : run_section(read_run(folder), pictures, prefix, report);
  }
  report.markdown = std::move(text);
  return report;
}

}  // namespace cudal1
