// Compares the virtual GPU's timing model with a GPU: vgpu_rank compile DIR, then measure and count DIR RESULT.jsonl.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/result.hpp"
#include "corpus.hpp"

namespace {

struct Options {
  std::string folder, result, family, measured;
  std::uint64_t sample = 64;
};

CLI::App* add_command(CLI::App& app, Options& options, const char* name, const char* description) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("folder", options.folder, "what compile has made")->required();
  command->add_option("result", options.result, "a JSON object a line")->required();
  command->add_option("--family", options.family, "only this one");
  return command;
}

}  // namespace

int main(int count, char** arguments) try {
  using namespace cudal1;
  Options options;
  CLI::App app("Times and counters of kernels that do the same in different ways.");
  app.require_subcommand(1);
  CLI::App* compile = app.add_subcommand("compile", "PTX of all variants; needs clang");
  compile->add_option("folder", options.folder, "where it goes")->required();
  CLI::App* measure = add_command(app, options, "measure", "times; needs a GPU and its driver, no compiler");
  CLI::App* counters = add_command(app, options, "count", "counters of the virtual GPU, on any machine");
  counters->add_option("--sample", options.sample, "blocks of every launch, 0: all")->capture_default_str();
  counters->add_option("--measured", options.measured, "only variants that this file of measure has a time of");
  CLI11_PARSE(app, count, arguments);
  if (*compile) rank::compile_corpus(CUDAL1_SOURCE_DIR "/tests/vgpu_conformance/kernels", options.folder);
  if (*measure) rank::measure_corpus(options.folder, options.result, options.family);
  if (*counters) {
    const auto only = options.measured.empty() ? std::set<std::string>{} : rank::measured_variants(options.measured);
    rank::count_corpus(options.folder, options.result, options.family, only, options.sample);
  }
  return 0;
} catch (const cudal1::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
