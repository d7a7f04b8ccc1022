#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "archive/archive.hpp"
#include "base/between_commas.hpp"
#include "base/files.hpp"
#include "bridge/module_task.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/package_export.hpp"
#include "cli/program_text.hpp"
#include "cli/suite_options.hpp"
#include "judge/judge.hpp"
#include "package/package_writer.hpp"
#include "suite/task_export.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  SuiteOptions task;
  fs::path output, archive;
  std::vector<fs::path> programs;
  std::vector<std::string> targets, shapes;
  std::string device = "auto";
  bool verify = true;
  bool as_json = false;
};

struct ChosenProgram {
  std::string text;
  std::string origin;  //!< for the user: where it comes from
};

ChosenProgram given_program(const fs::path& file) {
  ProgramText read = read_program(file);
  if (read.failure) throw Error(fmt::format("{}: {}", file.string(), read.failure->message));
  return {std::move(read.text), file.string()};
}

//! What was asked for, else the best on record, else nothing but library calls. `index`: among the sizes.
ChosenProgram choose_program(const ExportOptions& options, std::size_t index, const Task& task,
                             const std::string& gpu) {
  if (!options.programs.empty()) return given_program(options.programs[options.programs.size() > 1 ? index : 0]);
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
  return options.targets.empty() ? default_targets() : options.targets;
}

bool is_letter(unsigned char c) { return c == '_' || std::isalpha(c) != 0 || c >= 0x80; }
bool is_digit(unsigned char c) { return std::isdigit(c) != 0; }

//! x=32x128; whether the module has an x is another question.
bool is_size(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals), numbers = text.substr(equals);
  char before = 'x';
  for (const char c : numbers.substr(std::min<std::size_t>(1, numbers.size()))) {
    if (!is_digit(c) && (c != 'x' || !is_digit(before))) return false;
    before = c;
  }
  return is_digit(before) && !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [](unsigned char c) { return is_letter(c) || is_digit(c); });
}

//! x=32x128,batch_size=32
void check_set_of_sizes(std::string_view text) {
  for (const std::string_view one : between_commas(text))
    if (!is_size(one))
      throw UsageError(fmt::format("--shapes: '{}' is no size such as x=32x128 or batch_size=32", one));
}

//! The module's own sizes come first, then those that were asked for.
std::vector<std::string> sizes_of(const ExportOptions& options) {
  std::vector<std::string> sizes{""};
  for (const std::string& text : options.shapes) {
    if (text.find_first_not_of("; ") == std::string::npos)
      throw UsageError(fmt::format("--shapes '{}': there are no sizes in it, such as x=32x128", text));
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(';', begin), text.size());
      std::string one = text.substr(begin, end - begin);
      std::erase(one, ' ');
      if (!one.empty()) {
        check_set_of_sizes(one);
        sizes.push_back(std::move(one));
      }
      begin = end + 1;
    }
  }
  if (options.programs.size() > 1 && options.programs.size() != sizes.size())
    throw UsageError(
        fmt::format("{} programs for {} sets of sizes (the module's own are the first): give one for all, "
                    "or one for each",
                    options.programs.size(), sizes.size()));
  return sizes;
}

struct ExportedProgram {
  ProgramContents contents;
  std::string origin;
};

//! The one task that is meant, and its module.
TaskFolder choose_module(const ExportOptions& options) {
  const ChosenTasks chosen = choose_tasks(options.task);
  if (chosen.tasks.size() > 1)
    throw Error(
        fmt::format("{}: {} tasks are chosen, and a package is of one: --name, --id, --level and --suite choose",
                    options.task.path.string(), chosen.tasks.size()));
  TaskFolder task = task_folder_of(chosen.tasks.front());
  task.module = module_of(task);
  if (task.module.empty())
    throw Error(fmt::format("{}: a native task: there is no PyTorch module that a package would stand in for",
                            task.folder.string()));
  return task;
}

ExportedProgram export_program(const ExportOptions& options, const TaskFolder& made, Backend& backend,
                               const std::string& sizes, std::size_t index) {
  const Task task = load_task_with_metas(sizes.empty() ? made.folder : task_of_module(made.module, sizes));
  refuse_hidden_state(task, made.module);
  check_interface(task);
  const ChosenProgram program = choose_program(options, index, task, backend.info().name);
  const Result<Plan> plan = plan_program(task.graph, program.text);
  if (!plan)
    throw Error(fmt::format("{}:{}:{}: {}", program.origin, plan.failure().at.line, plan.failure().at.column,
                            plan.failure().message));
  if (options.verify) verify(backend, task, program);
  return {{task, sizes, plan.value(), program.text, compile_for(targets_of(options), plan.value())}, program.origin};
}

void print_summary(const ExportOptions& options, const std::vector<ExportedProgram>& exported) {
  for (const ExportedProgram& program : exported) {
    const std::string& sizes = program.contents.sizes;
    fmt::print("{}{}: {}{}\n", options.output.string(), sizes.empty() ? "" : fmt::format(" ({})", sizes),
               program.origin, options.verify ? ", verified" : ", not verified");
  }
  fmt::print("{}\n", how_to_import(options.output));
}

void print_json(const ExportOptions& options, const std::vector<ExportedProgram>& exported) {
  nlohmann::json report{{"package", options.output.string()}, {"task", exported.front().contents.task.name},
                        {"program", exported.front().origin}, {"verified", options.verify},
                        {"targets", nlohmann::json::array()}, {"sizes", nlohmann::json::array()}};
  for (const auto& [target, image] : exported.front().contents.images) report["targets"].push_back(target);
  for (const ExportedProgram& program : exported)
    report["sizes"].push_back({{"sizes", program.contents.sizes}, {"program", program.origin}});
  fmt::print("{}\n", report.dump());
}

int run_export(const ExportOptions& options) {
  const std::vector<std::string> sizes = sizes_of(options);
  const TaskFolder task = choose_module(options);
  const auto backend = choose_backend(options.device, {});
  std::vector<ExportedProgram> exported;
  PackageContents package{task.module, {}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    exported.push_back(export_program(options, task, *backend, sizes[i], i));
    package.programs.push_back(exported.back().contents);
  }
  write_package(package, options.output);
  if (options.as_json)
    print_json(options, exported);
  else
    print_summary(options, exported);
  return 0;
}

}  // namespace

void add_export_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write a Python package that stands in for a PyTorch module");
  command->footer(
      "Example: cudal1 export my_model.py --program fast.cu -o my_model_fast\n"
      "         cudal1 export KernelBench --level 1 --name ReLU -o fast_relu");
  add_suite_options(*command, options->task);
  command->get_option("path")->description(
      "A PyTorch module (.py), a task folder made from one, or a suite of which one task is chosen");
  command->add_option("-o,--output", options->output, "The folder to make, named as the package will be")->required();
  command->add_option("--program", options->programs,
                      "Its program (.cu), or one for each set of sizes; without it the best one on record");
  command->add_option("--shapes", options->shapes,
                      "Further sizes to export for: arguments of forward (x=32x128) and numbers of the file "
                      "(batch_size=32), with commas between those of one set and semicolons between sets");
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
