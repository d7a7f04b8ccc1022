#include <algorithm>
#include <chrono>

#include "base/files.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "graph/executor.hpp"
#include "judge/judge.hpp"
#include "judge/timing_statistics.hpp"
#include "rows.hpp"

namespace cudal1::bench {
namespace fs = std::filesystem;

std::vector<ExampleProgram> programs_below(const fs::path& folder) {
  std::vector<ExampleProgram> programs;
  for (const auto& task : fs::directory_iterator(folder)) {
    if (!task.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(task)) {
      if (file.path().extension() != ".cu") continue;
      const std::string name = file.path().filename().string();
      programs.push_back({task.path(), name, read_file(file.path()), name.substr(0, name.find('-'))});
    }
  }
  std::sort(programs.begin(), programs.end(), [](const ExampleProgram& a, const ExampleProgram& b) {
    return std::tie(a.task, a.file) < std::tie(b.task, b.file);
  });
  return programs;
}

void compile_rows(Backend& backend, const Setting& setting, nlohmann::json& rows) {
  NvrtcCompilerOptions options;
  options.cache_folder = setting.scratch / "compile-rows";
  NvrtcCompiler compiler(options);
  std::vector<double> cold, cached;
  for (const ExampleProgram& program : programs_below(setting.source_folder / "examples")) {
    if (program.wanted_status != "ok") continue;
    Task task = load_task(program.task);
    infer_metas(task);
    const auto plan = make_plan(task.graph, program.text);
    if (!plan || !plan.value().has_launches()) continue;
    const CompileRequest request{plan.value().code, plan.value().kernels, backend.info().target};
    for (auto* times : {&cold, &cached}) {
      const auto begin = std::chrono::steady_clock::now();
      if (!compiler.compile(request)) throw Error(program.file + " does not compile");
      times->push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
  }
  const double cold_seconds = median(cold), cached_milliseconds = 1e3 * median(cached);
  const std::string what = "NVRTC compile of the examples, median";
  rows.push_back(row(what + ", cold", cold_seconds, "s", "at most 0.5 s", cold_seconds <= 0.5,
                     {{"programs", cold.size()}, {"largest", *std::max_element(cold.begin(), cold.end())}}));
  rows.push_back(row(what + ", from the cache", cached_milliseconds, "ms", "at most 5 ms", cached_milliseconds <= 5.0));
}

}  // namespace cudal1::bench
