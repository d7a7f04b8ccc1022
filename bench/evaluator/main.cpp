// Measures everything the evaluator claims and writes bench/results/evaluator.json.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>

#include "base/files.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "rows.hpp"

namespace {

namespace fs = std::filesystem;
using namespace cudal1;

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

//! The rows of earlier runs on the same GPU, but for those that are measured again: each says which commit it is of.
nlohmann::json merged(const fs::path& output, const std::string& gpu, const nlohmann::json& fresh) {
  nlohmann::json rows = nlohmann::json::array();
  if (fs::exists(output)) {
    const nlohmann::json earlier = nlohmann::json::parse(read_file(output));
    if (earlier.at("gpu") == gpu) rows = earlier.at("rows");
    for (nlohmann::json& row : rows)
      if (!row.contains("commit")) row["commit"] = earlier.at("commit");
  }
  for (const nlohmann::json& row : fresh) {
    const auto same =
        std::find_if(rows.begin(), rows.end(), [&](const auto& old) { return old["what"] == row["what"]; });
    if (same != rows.end())
      *same = row;
    else
      rows.push_back(row);
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"Measures the evaluator on this machine's GPU"};
  fs::path output = "bench/results/evaluator.json";
  std::string commit = "unknown", command = "bench/evaluator.sh";
  std::vector<std::string> only;
  app.add_option("--output", output, "Where the rows go");
  app.add_option("--commit", commit, "What is being measured");
  app.add_option("--only", only, "These rows alone")
      ->check(CLI::IsMember({"compile", "start", "throughput", "self", "repeat", "noise", "host", "hang"}));
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
      {"hang", [&] { bench::hang_row(*backend, setting, rows); }}};
  for (const auto& [name, measure] : measurements) {
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
    const auto begin = std::chrono::steady_clock::now();
    measure();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::fprintf(stderr, "%s: %.0f s\n", name.c_str(), seconds);
    for (nlohmann::json& row : rows) row["commit"] = commit;
    const nlohmann::json result{{"command", command},
                                {"commit", commit},
                                {"gpu", backend->info().name},
                                {"date", today()},
                                {"rows", merged(output, backend->info().name, rows)}};
    write_file_atomically(output, result.dump(1) + "\n");  // after each, so that an interrupted run keeps its rows
  }
  for (const auto& r : rows)
    std::printf("%-5s %-90s %12.4g %-14s bar: %s\n", r["holds"].get<bool>() ? "holds" : "FAILS",
                r["what"].get<std::string>().c_str(), r["value"].get<double>(), r["unit"].get<std::string>().c_str(),
                r["bar"].get<std::string>().c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "evaluator_bench: %s\n", error.what());
  return 1;
}
