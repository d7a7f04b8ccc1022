#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/effects_table.hpp"
#include "cli/printable.hpp"
#include "cli/program_text.hpp"
#include "cli/progress.hpp"
#include "cli/task_argument.hpp"
#include "judge/judge.hpp"
#include "optimize/part_effects.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

struct ExplainOptions {
  fs::path task, program;
  std::string device = "auto";
  bool as_json = false;
};

int run_explain(const ExplainOptions& options) {
  const ProgramText program = read_program(options.program);
  if (program.failure) throw Error(fmt::format("{}: {}", options.program.string(), program.failure->message));
  const auto backend = choose_backend(options.device, {});
  TaskJudge judge(*backend, load_task_argument(options.task), {});
  std::size_t judged = 0;
  const auto evaluate = [&](const std::string& text) {
    show_progress(judged++, 0, "programs judged");
    return judge.evaluate(judge.compile(options.program.filename().string(), text));
  };
  const Evaluation whole = evaluate(program.text);
  if (whole.status != Status::ok)
    throw Error(fmt::format("{}:{}:{}: {}: {}", options.program.string(), whole.failure.at.line,
                            whole.failure.at.column, to_string(whole.status), whole.failure.message));
  const std::vector<PartEffect> effects = effects_of_parts(program.text, true, evaluate);
  clear_progress();
  if (options.as_json) {
    fmt::print("{}\n", nlohmann::json{{"task", judge.name()},
                                      {"program", options.program.filename().string()},
                                      {"speedup", whole.timing->speedup},
                                      {"predicted", whole.predicted},
                                      {"device", whole.device},
                                      {"techniques", effects_json(effects, whole)}}
                           .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return 0;
  }
  fmt::print("{} on {}: {:.2f}x{}\n{}", printable(judge.name()), whole.device, whole.timing->speedup,
             whole.predicted ? " (predicted)" : "", printable_lines(effects_table(effects, whole, true)));
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "What each directive of a program does: without it, and alone");
  command->footer("Example: cudal1 explain examples/bias_gelu fast.cu");
  command->add_option("task", options->task, task_argument_help)->required();
  command->add_option("program", options->program, "Program text (.cu)")->required();
  command->add_option("--device", options->device, "Where to run")->check(CLI::IsMember({"auto", "cuda", "vgpu"}));
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  command->callback([options, &action] { action = [options] { return run_explain(*options); }; });
}

}  // namespace cudal1
