#include <fmt/format.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/result.hpp"
#include "cli/commands.hpp"
#include "train/data/export_formats.hpp"

namespace cudal1 {
namespace {

struct DataExportOptions {
  std::filesystem::path source, output;
  std::string format = "trl", split;
  bool samples = false;
};

int run_data_export(const DataExportOptions& options) {
  std::vector<TrainingExample> examples =
      load_examples(options.source, options.samples ? ExamplesOfRun::samples : ExamplesOfRun::pairs);
  if (!options.split.empty())
    std::erase_if(examples, [&](const TrainingExample& each) { return to_string(each.split) != options.split; });
  const std::string text = export_text(examples, *export_format_from_string(options.format));
  if (options.output == "-") {
    fmt::print("{}", text);
    return 0;
  }
  write_file_atomically(options.output, text);
  fmt::print(stderr, "{} examples in {}\n", examples.size(), options.output.string());
  return 0;
}

void add_export(CLI::App& data, CommandAction& action) {
  auto options = std::make_shared<DataExportOptions>();
  CLI::App* command = data.add_subcommand("export", "Examples as other trainers read them, one JSON object a line");
  command->footer("Example: cudal1 data export runs/first --format trl -o pairs.jsonl");
  command->add_option("source", options->source, "A training run's folder, or a JSONL file of it")->required();
  command
      ->add_option("--format", options->format,
                   "trl: prompt and completion; verl: its fields, to be made Parquet; "
                   "messages: whole conversations")
      ->check(CLI::IsMember({"trl", "verl", "messages"}))
      ->required();
  command->add_flag("--samples", options->samples,
                    "Of a run, what the model wrote in stage 3 with what it earned; default: pairs of stage 1");
  command->add_option("--split", options->split, "Only these; default: all")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command->add_option("-o,--output", options->output, "Where to write them; -: standard output")->required();
  command->callback([options, &action] { action = [options] { return run_data_export(*options); }; });
}

}  // namespace

void add_data_command(CLI::App& app, CommandAction& action) {
  CLI::App* command = app.add_subcommand("data", "What models are trained on");
  command->require_subcommand(1);
  add_export(*command, action);
}

}  // namespace cudal1
