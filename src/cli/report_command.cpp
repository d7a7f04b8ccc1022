#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "cli/commands.hpp"
#include "train/report/training_report.hpp"
#include "train/run/run_history.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<fs::path> folders;
  fs::path output;
};

std::string command_of(const ReportOptions& options) {
  std::string command = "cudal1 report";
  for (const fs::path& folder : options.folders) command += " " + shell_word(folder.string());
  return command + " -o " + shell_word(options.output.string());
}

//! Pictures lie in a folder beside the page that is named after it.
int run_report(const ReportOptions& options) try {
  const fs::path pictures = options.output.parent_path() / options.output.stem();
  if (options.output.extension() != ".md")
    throw UsageError(
        fmt::format("-o {}: the page is Markdown; give it a name that ends with .md", options.output.string()));
  const TrainingReport report = training_report(options.folders, command_of(options), pictures.filename().string());
  fs::create_directories(pictures);
  for (const auto& [name, svg] : report.pictures) write_file_atomically(pictures / name, svg);
  write_file_atomically(options.output, report.markdown);
  fmt::print(stderr, "{} and {} pictures in {}\n", options.output.string(), report.pictures.size(), pictures.string());
  return 0;
} catch (const fs::filesystem_error& problem) {
  throw Error(fmt::format("{}: {}", problem.path1().string(), problem.code().message()));
}

}  // namespace

void add_report_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "What training runs and ablations came to, as a page with pictures");
  command->footer("Example: cudal1 report runs/first runs/ablation -o results.md");
  command->add_option("runs", options->folders, "Folders of training runs and ablations, finished or not")->required();
  command
      ->add_option("-o,--output", options->output,
                   "The page, NAME.md; its pictures go into the folder NAME beside it")
      ->required();
  command->callback([options, &action] { action = [options] { return run_report(*options); }; });
}

}  // namespace cudal1
