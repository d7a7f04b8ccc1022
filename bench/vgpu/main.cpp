// Measures how fast the virtual GPU is, and what it needs, and writes bench/results/vgpu.json.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "rows.hpp"

using namespace cudal1;

int main(int argc, char** argv) try {
  CLI::App app{"Measures the virtual GPU on this machine"};
  std::filesystem::path output = "bench/results/vgpu.json";
  std::string commit = "unknown";
  std::vector<std::string> only;
  bool memory_process = false;
  app.add_option("--output", output, "Where the rows go");
  app.add_option("--commit", commit, "What is being measured");
  app.add_option("--only", only, "These rows alone")
      ->check(CLI::IsMember({"speed", "cores", "product", "checks", "memory", "eval"}));
  app.add_flag("--memory-process", memory_process, "What the memory row measures");
  CLI11_PARSE(app, argc, argv);
  if (memory_process) {
    bench::run_memory_process();
    return 0;
  }

  bench::Workload workload(std::size_t{1} << 22);
  nlohmann::json rows = nlohmann::json::array();
  const std::vector<std::pair<std::string, std::function<void()>>> measurements{
      {"speed", [&] { bench::speed_rows(workload, rows); }},
      {"cores", [&] { bench::two_cores_row(workload, rows); }},
      {"product", [&] { bench::product_rows(workload, rows); }},
      {"checks", [&] { bench::checks_row(workload, rows); }},
      {"memory", [&] { bench::memory_row(rows); }},
      {"eval", [&] { bench::eval_row(rows); }}};
  for (const auto& [name, measure] : measurements)
    if (only.empty() || std::find(only.begin(), only.end(), name) != only.end()) measure();
  bench::write_results(output, {"bench/vgpu.sh, bench/vgpu_model.sh", commit, bench::this_processor()}, rows);
  bench::print(rows);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "vgpu_bench: {}\n", error.what());
  return 1;
}
