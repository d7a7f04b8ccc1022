#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/effects_table.hpp"
#include "cli/gpu_option.hpp"
#include "cli/printable.hpp"
#include "cli/program_text.hpp"
#include "cli/progress.hpp"
#include "cli/task_argument.hpp"
#include "judge/judge.hpp"
#include "optimize/part_effects.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ExplainOptions {
  fs::path task, program, plot;
  std::string device = "auto", mode = "result";
  VgpuOptions vgpu;
  bool as_json = false;
};

struct Explanation {
  std::string task;
  Evaluation whole;
  std::vector<PartEffect> effects;
};

//! Judges programs and shows how many of them are done.
class CountingJudge {
 public:
  CountingJudge(TaskJudge& judge, std::string program) : judge_(judge), program_(std::move(program)) {}
  Evaluation operator()(const std::string& text) {
    show_progress(judged_++, total, "programs judged");
    return judge_.evaluate(judge_.compile(program_, text));
  }
  std::size_t total = 1;

 private:
  TaskJudge& judge_;
  std::string program_;
  std::size_t judged_ = 0;
};

Explanation explained(const ExplainOptions& options, const std::string& text) {
  const auto backend = choose_backend(options.device, options.vgpu);
  JudgeOptions judge_options;
  judge_options.mode = options.mode == "fast" ? JudgeMode::fast : JudgeMode::result;
  TaskJudge judge(*backend, load_task_argument(options.task), judge_options);
  CountingJudge evaluate(judge, options.program.filename().string());
  Explanation made{judge.name(), evaluate(text), {}};
  if (made.whole.status != Status::ok) {
    const Failure& failure = made.whole.failure;
    throw Error(fmt::format("{}:{}:{}: {}: {}", options.program.string(), failure.at.line, failure.at.column,
                            to_string(made.whole.status), failure.message));
  }
  evaluate.total += programs_to_judge(text, true);
  made.effects = effects_of_parts(text, true, std::ref(evaluate), &made.whole);
  clear_progress();
  return made;
}

std::string heading(const Explanation& explanation) {
  const TimingSummary& timing = *explanation.whole.timing;
  const std::string how =
      explanation.whole.predicted ? "predicted" : fmt::format("[{:.3f}, {:.3f}]", timing.low, timing.high);
  return fmt::format("{} on {}: {:.2f}x {} over PyTorch, {:.4f} ms -> {:.4f} ms", explanation.task,
                     explanation.whole.device, timing.speedup, how, timing.reference_ms, timing.candidate_ms);
}

json to_json(const Explanation& explanation, const std::string& program) {
  const auto expected = expected_together(explanation.effects);
  const bool several = expected && explanation.effects.size() > 1;
  const auto number = [](const std::optional<double>& value) { return value ? json(*value) : json(nullptr); };
  return {{"task", explanation.task},
          {"program", program},
          {"speedup", explanation.whole.timing->speedup},
          {"speedup_low", explanation.whole.predicted ? json(nullptr) : json(explanation.whole.timing->low)},
          {"speedup_high", explanation.whole.predicted ? json(nullptr) : json(explanation.whole.timing->high)},
          {"predicted", explanation.whole.predicted},
          {"device", explanation.whole.device},
          {"product_of_alone", several ? json(expected->product) : json(nullptr)},
          {"saved_times_added", several ? number(expected->added) : json(nullptr)},
          {"techniques", effects_json(explanation.effects, explanation.whole)}};
}

//! Before anything is measured.
void expect_a_folder_for(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!file.empty() && !fs::is_directory(folder))
    throw UsageError(fmt::format("--plot {}: there is no folder {}", file.string(), folder.string()));
}

int run_explain(const ExplainOptions& options) {
  expect_a_folder_for(options.plot);
  const ProgramText program = read_program(options.program);
  if (program.failure) throw Error(fmt::format("{}: {}", options.program.string(), program.failure->message));
  const Explanation explanation = explained(options, program.text);
  const std::string title = fmt::format("{}: {}", options.program.filename().string(), heading(explanation));
  if (!options.plot.empty())
    write_file_atomically(options.plot, effects_plot(explanation.effects, explanation.whole, printable(title)));
  if (options.as_json) {
    fmt::print(
        "{}\n",
        to_json(explanation, options.program.filename().string()).dump(2, ' ', false, json::error_handler_t::replace));
    return 0;
  }
  fmt::print("{}\n", printable(heading(explanation)));
  if (explanation.effects.empty()) {
    fmt::print("the program has no directives: all of it runs as PyTorch runs it\n");
    return 0;
  }
  fmt::print("{}{}", printable_lines(effects_table(explanation.effects, explanation.whole, true)),
             printable_lines(effects_notes(explanation.effects, explanation.whole)));
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "What each directive of a program does: without it, and alone");
  command->footer("Example: cudal1 explain examples/gated_residual examples/gated_residual/ok-two_kernels.cu");
  command->add_option("task", options->task, task_argument_help)->required();
  command->add_option("program", options->program, "Program text (.cu)")->required();
  command->add_option("--plot", options->plot, "Write a bar chart (SVG) to this file");
  command->add_option("--device", options->device, "Where to run")->check(CLI::IsMember({"auto", "cuda", "vgpu"}));
  add_gpu_option(*command, options->vgpu.gpu);
  command->add_option("--mode", options->mode, "fast (intervals of 3%) or result (0.4%, fresh processes)")
      ->check(CLI::IsMember({"fast", "result"}))
      ->capture_default_str();
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  command->callback([options, &action] { action = [options] { return run_explain(*options); }; });
}

}  // namespace cudal1
