#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "archive/archive.hpp"
#include "base/files.hpp"
#include "bridge/module_task.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/program_text.hpp"
#include "cli/task_argument.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "device/cuda/driver.hpp"
#include "judge/judge.hpp"
#include "package/package_writer.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  fs::path module, program, output, archive;
  std::vector<std::string> targets;
  std::string device = "auto";
  bool verify = true;
  bool as_json = false;
};

struct ChosenProgram {
  std::string text;
  std::string origin;  //!< for the user: where it comes from
};

//! What was asked for, else the best on record, else nothing but library calls.
ChosenProgram choose_program(const ExportOptions& options, const Task& task, const std::string& gpu) {
  if (!options.program.empty()) {
    ProgramText read = read_program(options.program);
    if (read.failure) throw Error(fmt::format("{}: {}", options.program.string(), read.failure->message));
    return {std::move(read.text), options.program.string()};
  }
  const fs::path file = options.archive.empty() ? data_directory() / "archive.sqlite" : options.archive;
  if (fs::exists(file)) {
    Archive archive(file);
    const auto best = archive.best(task.hash, gpu, 1);
    if (!best.empty() && best.front().evaluation.reward.value_or(0.0) > 1.0)
      return {best.front().program_text,
              fmt::format("the best program on record, {:.2f}x on {}", *best.front().evaluation.reward, gpu)};
  }
  return {"", "no program is on record that is faster than PyTorch: library calls only"};
}

//! A package that is wrong would be found out by its users.
void verify(Backend& backend, const Task& task, const ChosenProgram& program) {
  JudgeOptions options;
  options.measure_time = false;
  TaskJudge judge(backend, task, options);
  const Evaluation evaluation = judge.evaluate(judge.compile("program", program.text));
  if (evaluation.status == Status::ok) return;
  throw Error(fmt::format("the program is not correct here, so nothing was exported: {}: {}",
                          to_string(evaluation.status), evaluation.failure.message));
}

std::vector<std::string> targets_of(const ExportOptions& options) {
  if (!options.targets.empty()) return options.targets;
  std::string reason;
  if (cuda::device_count(reason) > 0) return {cuda::device_info(0).target};
  return {"sm_80", "sm_89", "sm_90"};
}

std::map<std::string, CompiledModule> compile_for(const std::vector<std::string>& targets, const Plan& plan) {
  std::map<std::string, CompiledModule> images;
  if (!plan.has_launches()) return images;
  NvrtcCompiler compiler;
  for (const std::string& target : targets) {
    auto image = compiler.compile({plan.code, plan.kernels, target});
    if (!image) throw Error(fmt::format("the program does not compile for {}: {}", target, image.failure().message));
    images[target] = std::move(image).value();
  }
  return images;
}

int run_export(const ExportOptions& options) {
  if (!is_module_file(options.module))
    throw Error(
        fmt::format("{} is no PyTorch module (.py), which the package would stand in for", options.module.string()));
  const Task task = load_task_argument(options.module);
  const auto backend = choose_backend(options.device, {});
  const ChosenProgram program = choose_program(options, task, backend->info().name);
  const Result<Plan> plan = make_plan(task.graph, program.text);
  if (!plan)
    throw Error(fmt::format("{}:{}:{}: {}", program.origin, plan.failure().at.line, plan.failure().at.column,
                            plan.failure().message));
  if (options.verify) verify(*backend, task, program);
  PackageContents contents{task, options.module, plan.value(), program.text,
                           compile_for(targets_of(options), plan.value())};
  write_package(contents, options.output);
  std::vector<std::string> targets;
  for (const auto& [target, image] : contents.images) targets.push_back(target);
  if (options.as_json) {
    const nlohmann::json report{{"package", options.output.string()},
                                {"task", task.name},
                                {"program", program.origin},
                                {"verified", options.verify},
                                {"targets", targets}};
    fmt::print("{}\n", report.dump());
    return 0;
  }
  fmt::print("{}: {}{}\n", options.output.string(), program.origin, options.verify ? ", verified" : ", not verified");
  fmt::print("use it: from {} import ModelNew\n", fs::absolute(options.output).lexically_normal().filename().string());
  return 0;
}

}  // namespace

void add_export_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write a Python package that stands in for a PyTorch module");
  command->footer("Example: cudal1 export my_model.py --program fast.cu -o my_model_fast");
  command->add_option("module", options->module, "A PyTorch module (.py)")->required();
  command->add_option("-o,--output", options->output, "The folder to make, named as the package will be")->required();
  command->add_option("--program", options->program, "Its program (.cu); without it the best one on record");
  command->add_option("--target", options->targets, "GPUs to compile for (sm_90 …); default: the one that is here")
      ->check([](const std::string& target) {
        const bool good = target.starts_with("sm_") && target.size() > 4 &&
                          target.find_first_not_of("0123456789a", 3) == std::string::npos;
        return good ? std::string() : fmt::format("'{}' is no target such as sm_90", target);
      });
  command->add_option("--device", options->device, "Where to verify the program")
      ->check(CLI::IsMember({"auto", "cuda", "vgpu"}));
  command->add_flag("!--no-verify", options->verify, "Export without judging the program first");
  command->add_option("--archive", options->archive, "Another archive file");
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  command->callback([options, &action] { action = [options] { return run_export(*options); }; });
}

}  // namespace cudal1
