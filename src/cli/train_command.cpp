#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "cli/ablation.hpp"
#include "cli/commands.hpp"
#include "cli/training.hpp"

namespace cudal1 {
namespace {

struct TrainOptions {
  std::filesystem::path config, output;
  std::vector<std::string> settings;
  bool describe = false, as_json = false, is_ablation = false;
  std::vector<std::string> arms;
  std::int64_t seeds = 3;
  std::optional<std::int64_t> processes;
};

int run_train(const TrainOptions& options) {
  if (options.describe) {
    fmt::print("{}", training_options_markdown());
    return 0;
  }
  TrainingConfig config = options.config.empty() ? TrainingConfig{} : load_training_config(options.config);
  for (const std::string& setting : options.settings) set_training_option(config, setting);
  if (options.processes) set_training_option(config, fmt::format("run.processes={}", *options.processes));
  check(config);
  if (options.is_ablation)
    return run_ablation(config, {options.output, options.arms, options.seeds, options.as_json});
  return train(config, options.output, options.as_json);
}

}  // namespace

void add_train_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand(
      "train", "Train a language model to write fast programs: supervised, self-supervised, contrastive");
  command->footer("Example: cudal1 train configs/small.toml -o runs/first");
  command->add_option("config", options->config, "TOML (docs/train.md); without it the recipe as it is")
      ->check(CLI::ExistingFile);
  command->add_option("-o,--output", options->output, "Folder of the run; one that was ended is gone on with")
      ->default_val("runs/train");
  command->add_option("--set", options->settings, "section.key=value, over what CONFIG says; may come several times");
  command->add_option("--processes", options->processes,
                      "Processes that divide each step's texts among them: at most one a GPU, any number on a CPU");
  command->add_flag("--json", options->as_json,
                    "One object on standard output: what came of each stage (docs/json.md)");
  command->add_flag("--options", options->describe, "Print all sections and keys with their defaults, and end");
  CLI::Option* ablation = command->add_flag(
      "--ablation", options->is_ablation, "Train and compare arms on tasks that training never sees (docs/ablation.md)");
  command->add_option("--arms", options->arms, "Of the ablation, with commas between; without it all")
      ->delimiter(',')
      ->needs(ablation);
  command->add_option("--seeds", options->seeds, "Of the ablation: paired repetitions")
      ->check(CLI::Range(1, 1000))
      ->default_val(3)
      ->needs(ablation);
  command->callback([options, &action] { action = [options] { return run_train(*options); }; });
}

}  // namespace cudal1
