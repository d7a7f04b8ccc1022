#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ablation.hpp"
#include "cli/commands.hpp"
#include "cli/training.hpp"
#include "train/ablation/ablation_arms.hpp"
#include "train/run/run_history.hpp"

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

//! As it can be typed again.
std::string command_of(const TrainOptions& options) {
  std::string command = "cudal1 train";
  const auto add = [&](const std::string& word) { command += " " + shell_word(word); };
  if (!options.config.empty()) add(options.config.string());
  for (const std::string& word : {std::string("-o"), options.output.string()}) add(word);
  for (const std::string& setting : options.settings)
    for (const std::string& word : {std::string("--set"), setting}) add(word);
  if (options.processes) add(fmt::format("--processes={}", *options.processes));
  if (!options.is_ablation) return command;
  add("--ablation");
  if (!options.arms.empty()) add(fmt::format("--arms={}", fmt::join(options.arms, ",")));
  add(fmt::format("--seeds={}", options.seeds));
  return command;
}

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
    return run_ablation(config,
                        {options.output, options.arms, options.seeds, command_of(options), options.as_json});
  return train(config, options.output, command_of(options), options.as_json);
}

}  // namespace

namespace {

std::string arms_help() {
  std::vector<std::string_view> names;
  for (const AblationArm& arm : ablation_arms()) names.push_back(arm.name);
  return fmt::format("Of the ablation, with commas between; without it all: {}", fmt::join(names, ", "));
}

}  // namespace

void add_train_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand(
      "train", "Train a language model to write fast programs: supervised, self-supervised, contrastive");
  command->footer(
      "Examples: cudal1 train configs/small.toml -o runs/first\n"
      "          cudal1 train configs/small.toml --ablation --arms plain,bucket --seeds 3 -o runs/ablation");
  command->add_option("config", options->config, "TOML (docs/train.md); without it the recipe as it is")
      ->check(CLI::ExistingFile);
  command
      ->add_option("-o,--output", options->output, "Folder of the run or ablation; one that was ended is gone on with")
      ->default_val("runs/train");
  command->add_option("--set", options->settings, "section.key=value, over what CONFIG says; may come several times");
  command->add_option("--processes", options->processes,
                      "Processes that divide each step's texts among them: at most one a GPU, any number on a CPU");
  command->add_flag("--json", options->as_json,
                    "One object on standard output: what came of each stage, or arm (docs/json.md)");
  command->add_flag("--options", options->describe, "Print all sections and keys with their defaults, and end");
  CLI::Option* ablation = command->add_flag(
      "--ablation", options->is_ablation, "Train and compare arms on tasks that training never sees (docs/ablation.md)");
  command->add_option("--arms", options->arms, arms_help())
      ->delimiter(',')
      ->needs(ablation);
  command->add_option("--seeds", options->seeds, "Of the ablation: paired repetitions")
      ->check(CLI::Range(1, 1000))
      ->default_val(3)
      ->needs(ablation);
  command->callback([options, &action] { action = [options] { return run_train(*options); }; });
}

}  // namespace cudal1
