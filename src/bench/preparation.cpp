#include "bench/preparation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "archive/archive.hpp"
#include "base/files.hpp"
#include "bench/program_judge.hpp"
#include "dialect/markdown.hpp"
#include "package/package_writer.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

// Inputs are written, a call is made and its results are looked at, for eager PyTorch and for the solution.
constexpr double parts_of_a_pair = 4.0;
constexpr int most_on_record = 1000;  // solutions in Python are on record too; they have no plan

struct ChosenText {
  std::string text, origin;
  Dialect dialect = Dialect::plan;
};

ChosenText from_archive(const fs::path& file, const Task& task, const std::string& gpu) {
  if (!fs::exists(file)) return {"", "nothing is on record: library ops only"};
  const auto all = Archive(file).best(task.hash, gpu, most_on_record);
  const auto best = std::ranges::find_if(all, [](const Exemplar& one) { return !one.evaluation.plan_hash.empty(); });
  if (best == all.end()) return {"", "nothing is on record: library ops only"};
  return {best->program_text, fmt::format("the best on record, {:.2f}x", best->evaluation.reward.value_or(1.0))};
}

ChosenText choose_text(const ProgramChoice& choice, const Task& task, const std::string& gpu) {
  if (!choice.archive.empty()) return from_archive(choice.archive, task, gpu);
  if (choice.is_solution()) return {choice.solution, choice.origin, Dialect::torch};
  if (choice.file.empty()) return {"", "the empty program: library ops only"};
  std::string text = read_file(choice.file, ProgramLimits().max_text_bytes);
  const std::string origin = choice.file.filename().string();
  if (choice.is_in_python()) return {without_fences(std::move(text)), origin, Dialect::torch};
  return {std::move(text), origin};
}

WayTimes predicted_way(const std::string& way, double ms) { return {way, {ms}, ms, 0.0, {}}; }

//! `//! graph` around library ops is what PyTorch's CUDA Graph of the module is: inputs copied in, outputs copied out.
WayTimes predicted_graph(const ProgramJudge& judge) {
  const Evaluation graph = judge("cuda-graph", "//! graph\n").evaluation;
  if (!graph.timing) return {"cuda-graph", {}, 0.0, 0.0, fmt::format("not predicted: {}", graph.failure.message)};
  return predicted_way("cuda-graph", graph.timing->candidate_ms);
}

std::vector<WayTimes> predicted_ways(const PreparationRequest& request, const TimingSummary& timing,
                                     const ProgramJudge& judge) {
  std::vector<WayTimes> ways{predicted_way(program_way, timing.candidate_ms)};
  for (const std::string& baseline : request.baselines) {
    if (baseline == "eager")
      ways.push_back(predicted_way(baseline, timing.reference_ms));
    else if (baseline == "cuda-graph")
      ways.push_back(predicted_graph(judge));
    else
      ways.push_back({baseline, {}, 0.0, 0.0, "not predicted: no model of it"});
  }
  return ways;
}

void write_package_of(const PreparationRequest& request, const Task& task, const CompiledProgram& program,
                      const std::string& target) {
  check_interface(task);
  ProgramContents contents{task, {}, program.plan, program.text, {}};
  if (program.plan.has_launches()) contents.images[target] = program.module;
  write_package({request.module, {contents}}, request.package);
}

//! What compiling alone shows, where the user does not want more.
JudgedProgram unverified(Backend& backend, const Task& task, const ChosenText& text) {
  JudgedProgram result;
  result.compiled = compile_program(task.graph, backend, text.origin, text.text);
  result.own_kernels = result.compiled.plan.has_launches();
  result.evaluation.degenerate_task = task.degenerate;
  result.evaluation.status = result.compiled.failure ? result.compiled.failure->status : Status::ok;
  if (result.compiled.failure) result.evaluation.failure = *result.compiled.failure;
  return result;
}

//! Notes how long each stage took when the next one begins.
class StageClock {
 public:
  void done(const std::string& stage) {
    const auto now = std::chrono::steady_clock::now();
    stages.emplace_back(stage, std::chrono::duration<double>(now - begin_).count());
    begin_ = now;
  }
  std::vector<std::pair<std::string, double>> stages;

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string message_of(const Failure& failure) {
  if (failure.message.empty() || failure.at.line == 0) return failure.message;
  return fmt::format("{}:{}: {}", failure.at.line, failure.at.column, failure.message);
}

}  // namespace

Preparation prepare(const PreparationRequest& request, const MakeBackend& make_backend) {
  StageClock clock;
  const Task task = load_task_with_metas(request.task);
  clock.done("task");
  const std::shared_ptr<Backend> backend = make_backend(request.device == "cuda" ? "cuda" : "vgpu", request.gpu);
  clock.done("device");
  const bool predicts = request.device == "vgpu";
  const ChosenText text = choose_text(request.program, task, backend->info().name);
  JudgeOptions options;
  options.measure_time = predicts;
  if (text.dialect == Dialect::torch) options.longest_measurement_seconds = parts_of_a_pair * request.seconds;
  options.caller_shares_gpu = request.caller_shares_gpu;
  ProgramJudge judge;
  if (request.verify || predicts || text.dialect == Dialect::torch)
    judge = judge_for(text.dialect, {backend, task, request.module, request.device}, options);
  clock.done("reference");
  const JudgedProgram judged = judge ? judge(text.origin, text.text) : unverified(*backend, task, text);
  const Evaluation& evaluation = judged.evaluation;
  clock.done("program");

  Preparation result;
  result.status = to_string(evaluation.status);
  result.error = message_of(evaluation.failure);
  result.program = text.origin;
  result.own_kernels = judged.own_kernels;
  result.ratios = judged.ratios;
  result.degenerate = evaluation.degenerate_task;
  result.predicted = predicts;
  result.device = request.device == "cpu" ? "the processor" : backend->info().name;
  result.nodes = static_cast<int>(task.graph.nodes.size());
  if (evaluation.status != Status::ok) return result;
  if (predicts)
    result.ways = predicted_ways(request, *evaluation.timing, judge);
  else if (text.dialect == Dialect::plan)
    write_package_of(request, task, judged.compiled, backend->info().target);
  clock.done(predicts ? "prediction" : "package");
  result.stages = std::move(clock.stages);
  result.peak_tensor_bytes = take_peak_tensor_bytes(*backend);
  return result;
}

}  // namespace cudal1
