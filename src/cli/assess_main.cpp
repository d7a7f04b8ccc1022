// cudal1-assess: judges programs for a training run. Reads from standard input, a socket, where to judge, then programs
// of one task at a time, and answers with what became of them. Ends when the other side does.
#include <nlohmann/json.hpp>

#include "archive/evaluation_record.hpp"
#include "base/crash_trace.hpp"
#include "base/line_socket.hpp"
#include "cli/device_choice.hpp"
#include "graph/executor.hpp"
#include "train/assess/assess_messages.hpp"
#include "train/assess/judge_assessor.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr std::size_t most_line_bytes = std::size_t{256} << 20;

class Asker {
 public:
  Asker() : socket_(LineSocket::taken_from_standard_input()) {}

  std::optional<json> next() {
    std::string line;
    if (socket_.read(line, most_line_bytes, std::chrono::steady_clock::time_point::max()) != LineSocket::Heard::line)
      return std::nullopt;
    return json::parse(line);
  }
  void tell(const json& message) const { socket_.send(message.dump(-1, ' ', false, json::error_handler_t::replace)); }
  void tell_problem(const std::string& problem) const { tell({{"problem", problem}}); }

 private:
  LineSocket socket_;
};

std::unique_ptr<Backend> backend_for(const AssessSetting& setting) {
  if (setting.device == "cuda" && setting.beside_others) leave_cores_to_others();
  VgpuOptions vgpu;
  vgpu.gpu = setting.gpu;
  return choose_backend(setting.device, vgpu);
}

TrainingTask task_of(const AssessRequest& request) {
  TrainingTask made{request.family, parse_task(request.graph_json, "")};
  infer_metas(made.task);
  return made;
}

json answer_to(const AssessRequest& request, JudgeAssessor& assessor) {
  const TrainingTask task = task_of(request);
  std::vector<SubmittedProgram> programs;
  for (const std::string& text : request.programs) programs.push_back({&task, text});
  json assessments = json::array();
  if (request.afresh) {
    for (const std::string& text : request.programs) assessments.push_back(to_json(assessor.assess_afresh(task, text)));
    return {{"assessments", assessments}};
  }
  for (const Assessment& assessment : assessor.assess(programs)) assessments.push_back(to_json(assessment));
  return {{"assessments", assessments}};
}

void serve(Asker& asker) {
  const std::optional<json> first = asker.next();
  if (!first) return;
  const AssessSetting setting = assess_setting_from(*first);
  const std::unique_ptr<Backend> backend = backend_for(setting);
  const auto archive = setting.archive.empty() ? nullptr : std::make_unique<Archive>(setting.archive);
  JudgeAssessorOptions options;
  options.jobs = setting.jobs;
  options.bytes_for_input_sets = setting.bytes_for_input_sets;
  options.beside_others = setting.beside_others;
  options.seed = setting.seed;
  options.report = [&asker](const std::string& problem) { asker.tell_problem(problem); };
  JudgeAssessor assessor(*backend, archive.get(), options);
  while (const std::optional<json> request = asker.next())
    asker.tell(answer_to(assess_request_from(*request), assessor));
}

}  // namespace
}  // namespace cudal1

int main() {
  cudal1::tell_where_it_crashes();
  cudal1::Asker asker;
  try {
    cudal1::serve(asker);
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
