// Measures everything the evaluator claims and writes bench/results/evaluator.json.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "base/files.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "rows.hpp"

namespace {

namespace fs = std::filesystem;
using namespace cudal1;

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"Measures the evaluator on this machine's GPU"};
  fs::path output = "bench/results/evaluator.json";
  std::string commit = "unknown", command = "bench/evaluator.sh";
  std::vector<std::string> only;
  app.add_option("--output", output, "Where the rows go");
  app.add_option("--commit", commit, "What is being measured");
  app.add_option("--only", only, "These rows alone")
      ->check(CLI::IsMember({"compile", "start", "throughput", "self", "repeat", "noise", "host", "hang", "call"}));
  CLI11_PARSE(app, argc, argv);

  const TemporaryFolder scratch;
  const bench::Setting setting{CUDAL1_SOURCE_DIR, scratch.path()};
  const auto backend = make_cuda_backend(0, std::make_unique<NvrtcCompiler>());
  nlohmann::json rows = nlohmann::json::array();
  const std::vector<std::pair<std::string, std::function<void()>>> measurements{
      {"compile", [&] { bench::compile_rows(*backend, setting, rows); }},
      {"start", [&] { bench::start_row(*backend, rows); }},
      {"throughput", [&] { bench::throughput_row(setting, rows); }},
      {"self", [&] { bench::self_row(*backend, setting, rows); }},
      {"repeat", [&] { bench::repeat_row(*backend, setting, rows); }},
      {"noise", [&] { bench::noise_row(*backend, setting, rows); }},
      {"host", [&] { bench::host_row(*backend, setting, rows); }},
      {"hang", [&] { bench::hang_row(*backend, setting, rows); }},
      {"call", [&] { bench::call_row(*backend, setting, rows); }}};
  for (const auto& [name, measure] : measurements) {
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
    const auto begin = std::chrono::steady_clock::now();
    measure();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::fprintf(stderr, "%s: %.0f s\n", name.c_str(), seconds);
    // After each, so that an interrupted run keeps its rows.
    bench::write_results(output, {command, commit, backend->info().name}, rows);
  }
  bench::print(rows);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "evaluator_bench: %s\n", error.what());
  return 1;
}
