#include "technique_harness.hpp"

#include <cstdlib>
#include <memory>

#include "base/files.hpp"
#include "compile/clang_compiler.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "compile/nvrtc_location.hpp"
#include "device/cuda/driver.hpp"
#include "judge/judge.hpp"
#include "writer/write_program.hpp"

namespace cudal1::testing {

bool is_on_gpu() {
  const char* device = std::getenv("CUDAL1_TEST_DEVICE");
  return device != nullptr && std::string_view(device) == "cuda";
}

namespace {

std::unique_ptr<Backend> make_backend(bool contract) {
  static const int one_thread [[maybe_unused]] = ::setenv("OMP_NUM_THREADS", "1", 1);
  if (is_on_gpu()) return make_cuda_backend(0, std::make_unique<NvrtcCompiler>());
  ClangCompilerOptions options;
  options.contract = contract;
  return make_vgpu_backend(std::make_unique<ClangCompiler>(std::move(options)));
}

Backend& backend() {
  static const std::unique_ptr<Backend> instance = make_backend(false);
  return *instance;
}

Backend& contracting_backend() {
  if (is_on_gpu()) return backend();
  static const std::unique_ptr<Backend> instance = make_backend(true);
  return *instance;
}

std::filesystem::path write_task(const TaskText& task) {
  static const TemporaryFolder scratch;
  static int number = 0;
  const std::filesystem::path folder = scratch.path() / std::to_string(++number);
  std::filesystem::create_directories(folder);
  write_file_atomically(folder / "graph.json", task.json().dump(1));
  return folder;
}

std::string step_text(const Plan& plan, const Step& step) {
  if (const auto* launch = std::get_if<LaunchStep>(&step)) return "launch " + launch->kernel;
  if (const auto* zero = std::get_if<ZeroStep>(&step)) return "zero " + plan.buffers[zero->buffer].name;
  return "op " + std::get<OpStep>(step).node.name;
}

void take_failure(Verdict& verdict, Status status, const Failure& failure) {
  verdict.status = to_string(status);
  verdict.message = failure.message + (failure.details.empty() ? "" : "\n" + failure.details);
  verdict.line = failure.at.line;
}

Verdict planned_for(const OpGraph& graph, const std::string& program, const ProgramLimits& limits = {}) {
  Verdict verdict;
  verdict.status = to_string(Status::ok);
  const auto written = write_program(graph, program, limits);
  if (!written) {
    take_failure(verdict, written.failure().status, written.failure());
    return verdict;
  }
  verdict.code = written.value().text;
  for (const AppliedTechnique& applied : written.value().techniques) verdict.techniques.push_back(applied.technique);
  const auto plan = plan_program(graph, program, limits);
  if (!plan) {
    take_failure(verdict, plan.failure().status, plan.failure());
    return verdict;
  }
  for (const Step& step : plan.value().prepare) verdict.prepared.push_back(step_text(plan.value(), step));
  for (const Step& step : plan.value().call) verdict.steps.push_back(step_text(plan.value(), step));
  return verdict;
}

Precision precision_of(Declared declared) {
  constexpr Precision all[] = {Precision::standard, Precision::strict, Precision::tf32, Precision::paper};
  return all[static_cast<int>(declared)];
}

ProgramLimits limits_of(Declared declared) {
  ProgramLimits limits;
  limits.rounding = rounding_allowed(precision_of(declared));
  return limits;
}

Verdict judged_on(Backend& backend, const TaskText& task, const std::string& program, Declared declared) {
  JudgeOptions options;
  options.mode = JudgeMode::fast;
  options.measure_time = false;
  options.precision = precision_of(declared);
  const Task loaded = load_task_with_metas(write_task(task));
  TaskJudge judge(backend, loaded, options);
  const Evaluation evaluation = judge.evaluate(judge.compile("program.cu", program));
  Verdict verdict = planned_for(loaded.graph, program, limits_of(declared));
  if (evaluation.status != Status::ok) take_failure(verdict, evaluation.status, evaluation.failure);
  return verdict;
}

}  // namespace

TaskText::TaskText() : graph_{{"format", "cudal1.graph"}, {"version", 1}, {"name", "task"}} {
  for (const char* key : {"inputs", "weights", "state", "nodes", "outputs"}) graph_[key] = nlohmann::json::array();
}

TaskText& TaskText::leaf(const char* kind, const std::string& name, const std::vector<std::int64_t>& shape,
                         const nlohmann::json& more) {
  nlohmann::json made{{"name", name}, {"dtype", "f32"}, {"shape", shape}, {"draw", {{"kind", "normal"}}}};
  if (more.is_object()) made.update(more);
  graph_[kind].push_back(made);
  return *this;
}

TaskText& TaskText::input(const std::string& name, const std::vector<std::int64_t>& shape, const nlohmann::json& more) {
  return leaf("inputs", name, shape, more);
}

TaskText& TaskText::weight(const std::string& name, const std::vector<std::int64_t>& shape,
                           const nlohmann::json& more) {
  return leaf("weights", name, shape, more);
}

TaskText& TaskText::state(const std::string& name, const std::vector<std::int64_t>& shape, const nlohmann::json& more) {
  return leaf("state", name, shape, more);
}

TaskText& TaskText::node(const std::string& name, const std::string& op, const nlohmann::json& args,
                         const nlohmann::json& more) {
  nlohmann::json made{{"name", name}, {"op", op}, {"args", args}};
  if (more.is_object()) made.update(more);
  graph_["nodes"].push_back(made);
  return *this;
}

TaskText& TaskText::output(const std::string& name) {
  graph_["outputs"].push_back(name);
  return *this;
}

std::string why_no_device() {
  std::string reason;
  if (is_on_gpu()) return cuda::device_count(reason) > 0 ? std::string() : "no GPU: " + reason;
  return find_clang() ? std::string() : "no clang: " + clang_search_description();
}

OpGraph graph_of(const TaskText& task) { return load_task_with_metas(write_task(task)).graph; }

Verdict planned(const TaskText& task, const std::string& program) { return planned_for(graph_of(task), program); }

std::string why_no_nvrtc() { return find_nvrtc() ? std::string() : "no NVRTC: " + nvrtc_search_description(); }

std::string compiled_for(const TaskText& task, const std::string& program, const std::string& target,
                         Declared precision) {
  const Verdict verdict = planned_for(graph_of(task), program, limits_of(precision));
  if (verdict.status != "ok") return verdict.message;
  CompileRequest request{verdict.code, {}, target};
  for (const std::string& step : verdict.steps)
    if (step.starts_with("launch ")) request.kernels.push_back(step.substr(7));
  const auto module = NvrtcCompiler().compile(request);
  return module ? "compiled" : module.failure().message + "\n" + module.failure().details + "\n" + verdict.code;
}

Verdict judged(const TaskText& task, const std::string& program, Declared precision) {
  return judged_on(backend(), task, program, precision);
}

Verdict judged_contracted(const TaskText& task, const std::string& program) {
  return judged_on(contracting_backend(), task, program, Declared::standard);
}

}  // namespace cudal1::testing
