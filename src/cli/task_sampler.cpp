#include "cli/task_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "judge/compile_queue.hpp"
#include "optimize/recorded_programs.hpp"

namespace cudal1 {
namespace {

constexpr Precision precision = Precision::standard;

//! As figures are measured; predictions are the same whatever the mode, and the fast one shares what it can.
JudgeOptions judge_options(const Backend& backend, const SearchRequest& request) {
  JudgeOptions made;
  made.mode = backend.predicted() ? JudgeMode::fast : JudgeMode::result;
  made.precision = precision;
  if (backend.predicted()) made.bytes_for_input_sets = request.bytes_for_input_sets;
  made.beside_other_judges = request.beside_others;
  return made;
}

void add_evaluation(SampleRow& row, const Evaluation& evaluation) {
  row.status = to_string(evaluation.status);
  row.error = evaluation.failure.message;
  row.device = evaluation.device;
  row.degenerate = evaluation.degenerate_task;
  row.predicted = evaluation.predicted;
  row.seconds = evaluation.seconds;
  if (!evaluation.timing) return;
  row.reference_ms = evaluation.timing->reference_ms;
  row.candidate_ms = evaluation.timing->candidate_ms;
  if (evaluation.status != Status::ok) return;
  row.speedup = evaluation.timing->speedup;
  if (evaluation.predicted) return;  // a prediction has no interval
  row.speedup_low = evaluation.timing->low;
  row.speedup_high = evaluation.timing->high;
}

}  // namespace

TaskSampler::TaskSampler(Backend& backend, Task task, Archive* archive, const SearchRequest& request)
    : backend_(backend),
      task_(std::move(task)),
      request_(request),
      judge_(backend, task_, judge_options(backend, request)),
      on_record_(on_record(archive)) {}

std::vector<ScoredProgram> TaskSampler::on_record(Archive* archive) const {
  if (archive == nullptr) return {};
  return recorded_programs(*archive, judge_.hash(), backend_.info().name, precision);
}

std::vector<ScoredProgram> TaskSampler::proposed_by(const std::string& policy) const {
  std::vector<ScoredProgram> programs = on_record_;
  for (const SampleRow& row : request_.sampled) {
    if (row.policy != policy || row.program.empty()) continue;
    const Failure failure{status_from_string(row.status).value_or(Status::judge_error), row.error};
    programs.push_back({row.program, row.speedup.value_or(0.0), row.candidate_ms.value_or(0.0), failure});
  }
  return programs;
}

std::vector<int> TaskSampler::numbers_of(std::size_t share, const std::vector<PolicyShare>& shares) const {
  const int last = std::ranges::max(request_.samples);
  const std::vector<std::size_t> turns = first_turns(shares, static_cast<std::size_t>(last) + 1);
  std::vector<int> numbers;
  for (const int number : request_.samples)
    if (turns[static_cast<std::size_t>(number)] == share) numbers.push_back(number);
  return numbers;
}

const Failure* TaskSampler::run(PolicyMaker& policies, const vgpu::GpuProfile& gpu, const SampleListener& listener) {
  CompileQueue queue([this](const std::string& name,
                            const std::string& text) { return compile_program(task_.graph, backend_, name, text); },
                     request_.jobs);
  int started = 0;
  SampleParts parts;
  parts.start = [&](const std::string& text) { queue.add(fmt::format("sample-{}.cu", ++started), text); };
  parts.finish = [&](double best) { return judge_.evaluate(queue.next(), best); };
  parts.stop = listener.stop;
  const std::vector<PolicyShare> shares = policies.shares();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::string& name = shares[i].name;
    const std::vector<int> numbers = numbers_of(i, shares);
    if (numbers.empty()) continue;
    parts.take = [&](const JudgedSample& sample) { return take(sample, name, listener); };
    bool goes_on = false;
    if (name == "search") {
      goes_on = sample_proposals(*policies.make_search(task_, gpu), proposed_by(name), numbers, parts);
    } else {
      AnswerWriter writer = policies.make_writer(name, task_, gpu);
      goes_on = sample_answers(writer, on_record_, numbers, parts);
    }
    if (!goes_on) break;
  }
  return gpu_failure_.status == Status::ok ? nullptr : &gpu_failure_;
}

SampleRow TaskSampler::row_of(const JudgedSample& sample, const std::string& policy) const {
  SampleRow row;
  row.sample = sample.number;
  row.policy = policy;
  row.answer = row.status = sample.answer;
  row.error = sample.reason;
  row.program = sample.program;
  row.device = backend_.info().name;
  row.predicted = backend_.predicted();
  row.repairs = sample.repairs;
  row.prompt_tokens = sample.prompt_tokens;
  row.new_tokens = sample.new_tokens;
  row.cost = sample.cost;
  if (sample.evaluation) add_evaluation(row, *sample.evaluation);
  return row;
}

//! After a failure of the judge's own work the GPU is of no more use to this process.
bool TaskSampler::take(const JudgedSample& sample, const std::string& policy, const SampleListener& listener) {
  const bool failed = sample.evaluation && sample.evaluation->status == Status::judge_error && !backend_.predicted();
  if (failed && request_.ends_with_its_gpu) {
    gpu_failure_ = sample.evaluation->failure;
    gpu_failure_.status = Status::judge_error;
    return false;
  }
  listener.sample(row_of(sample, policy));
  return true;
}

}  // namespace cudal1
