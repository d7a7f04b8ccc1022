// training_bench: what training came to, and what it costs. bench/training.sh makes rows of what it writes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/result.hpp"
#include "parts.hpp"

namespace cudal1::bench {
namespace {

void add_common(CLI::App& part, BenchOptions& options) {
  part.add_option("config", options.config, "TOML (docs/train.md)")->required()->check(CLI::ExistingFile);
  part.add_option("--set", options.settings, "section.key=value, over what CONFIG says");
  part.add_option("--archive", options.archive, "Where measurements are kept")->required();
  part.add_option("--tasks", options.tasks, "The first so many of the configuration's; default: all");
}

int run(int argc, char** argv) {
  CLI::App app("What training came to, and what it costs");
  app.require_subcommand(1);
  BenchOptions common;
  TrialBenchOptions trials;
  SearchBenchOptions searches;
  std::filesystem::path rate_file;
  int code = 0;

  CLI::App* trial = app.add_subcommand("trial", "Samples of a model with each of some adapters for the test tasks");
  add_common(*trial, common);
  trial->add_option("--adapter", trials.adapters, "NAME=FOLDER; may come several times")->required();
  trial->add_option("--form", trials.forms, "directives, written_out; may come several times");
  trial->add_option("--rounds", trials.rounds, "Later ones see what was found before")->check(CLI::Range(1, 64));
  trial->add_option("--samples", trials.samples, "Of each task and round")->check(CLI::Range(1, 1024));
  trial->add_option("-o,--output", trials.folder, "Folder for a file of each adapter and form")->required();
  trial->callback([&] { code = run_trials(common, trials); });

  CLI::App* search = app.add_subcommand("search", "The search for the test tasks, judged as in training");
  add_common(*search, common);
  search->add_option("--evaluations", searches.evaluations, "Of each task")->check(CLI::Range(1, 1000000));
  search->add_option("-o,--output", searches.file, "File with a line a task")->required();
  search->callback([&] { code = run_searches(common, searches); });

  CLI::App* rate = app.add_subcommand("rate", "The writer's variants for the train tasks, judged as in a run");
  add_common(*rate, common);
  rate->add_option("-o,--output", rate_file, "File for what came of it")->required();
  rate->callback([&] { code = run_rate(common, rate_file); });

  CLI11_PARSE(app, argc, argv);
  return code;
}

}  // namespace
}  // namespace cudal1::bench

int main(int argc, char** argv) try {
  return cudal1::bench::run(argc, argv);
} catch (const std::exception& problem) {
  fmt::print(stderr, "{}\n", problem.what());
  return 1;
}
