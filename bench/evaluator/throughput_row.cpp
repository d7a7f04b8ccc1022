#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <semaphore>

#include "compile/nvrtc_compiler.hpp"
#include "graph/executor.hpp"
#include "judge/judge.hpp"
#include "rows.hpp"

namespace cudal1::bench {
namespace fs = std::filesystem;

void throughput_row(const Setting& setting, nlohmann::json& rows) {
  constexpr int compilers = 8;
  NvrtcCompilerOptions options;
  options.cache_folder = setting.scratch / "throughput";  // cold
  const auto backend = make_cuda_backend(0, std::make_unique<NvrtcCompiler>(options));
  const auto programs = programs_below(setting.source_folder / "examples");
  std::map<fs::path, Task> tasks;
  for (const ExampleProgram& program : programs)
    if (!tasks.contains(program.task)) infer_metas(tasks[program.task] = load_task(program.task));

  const auto begin = std::chrono::steady_clock::now();
  std::counting_semaphore<> free_slots(compilers);
  std::deque<std::future<CompiledProgram>> compiled;
  for (const ExampleProgram& program : programs)
    compiled.push_back(std::async(std::launch::async, [&] {
      free_slots.acquire();
      CompiledProgram result = compile_program(tasks.at(program.task).graph, *backend, program.file, program.text);
      free_slots.release();
      return result;
    }));
  std::unique_ptr<TaskJudge> judge;
  fs::path current;
  std::map<std::string, int> statuses;
  nlohmann::json others = nlohmann::json::array();
  for (const ExampleProgram& program : programs) {
    if (program.task != current) {
      judge.reset();
      JudgeOptions judge_options;
      judge_options.mode = JudgeMode::fast;
      judge = std::make_unique<TaskJudge>(*backend, current = program.task, judge_options);
    }
    const Evaluation evaluation = judge->evaluate(compiled.front().get());
    compiled.pop_front();
    ++statuses[std::string(to_string(evaluation.status))];
    if (to_string(evaluation.status) != program.wanted_status)
      others.push_back({{"task", program.task.filename().string()},
                        {"program", program.file},
                        {"status", to_string(evaluation.status)},
                        {"message", evaluation.failure.message}});
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double per_minute = 60.0 * static_cast<double>(programs.size()) / seconds;
  rows.push_back(
      row("fast-mode evaluations, 8 compiling processes, one GPU, on the examples, cold cache, every program different",
          per_minute, "per minute", "at least 120", per_minute >= 120.0,
          {{"programs", programs.size()}, {"seconds", seconds}, {"statuses", statuses}}));
  const double right = 100.0 - 100.0 * static_cast<double>(others.size()) / static_cast<double>(programs.size());
  rows.push_back(row("example programs that get the status their file name starts with", right, "%", "every one",
                     others.empty(), {{"programs", programs.size()}, {"others", others}}));
}

}  // namespace cudal1::bench
