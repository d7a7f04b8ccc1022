#include "train/assess/judge_assessor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "archive/evaluation_record.hpp"
#include "base/hash.hpp"
#include "base/seconds_since.hpp"
#include "judge/compile_queue.hpp"
#include "optimize/replaced_time.hpp"
#include "train/assess/assessor_counts.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

constexpr Precision precision = Precision::standard;
constexpr JudgeMode mode = JudgeMode::fast;

JudgeOptions judge_options(const JudgeAssessorOptions& options) {
  JudgeOptions made;
  made.mode = mode;
  made.precision = precision;
  made.bytes_for_input_sets = options.bytes_for_input_sets;
  made.beside_other_judges = options.beside_others;
  return made;
}

//! Never 0, by which a judge would take a secret one.
std::uint64_t seed_for(std::uint64_t run_seed, const std::string& task_hash, const std::string& plan_hash) {
  const std::string digits =
      Sha256().add_field(std::to_string(run_seed)).add_field(task_hash).add_field(plan_hash).hex();
  return std::max(std::uint64_t{1}, std::uint64_t{std::stoull(digits.substr(0, 16), nullptr, 16)});
}

Assessment failed(const Failure& failure, const std::string& plan_hash = {}) {
  Assessment made;
  made.outcome.status = failure.status;
  made.outcome.plan_hash = plan_hash;
  made.message = failure.message;
  return made;
}

std::vector<std::string> technique_names(const OpGraph& graph, const std::string& text) {
  const auto written = write_program(graph, text);
  std::set<std::string> names;
  if (written)
    for (const AppliedTechnique& applied : written.value().techniques) names.insert(applied.technique);
  return {names.begin(), names.end()};
}

Assessment from_record(const EvaluationRecord& record) {
  Assessment made = failed(failure_of(record), record.plan_hash);
  made.outcome.speedup = record.speedup.value_or(0.0);
  made.outcome.speedup_low = record.speedup_low.value_or(made.outcome.speedup);
  made.outcome.speedup_high = record.speedup_high.value_or(made.outcome.speedup);
  const auto evaluation = nlohmann::json::parse(record.json, nullptr, false);
  const nlohmann::json::json_pointer checks("/details/fresh_process_checks");
  made.is_measured_again = evaluation.is_object() && evaluation.value(checks, 0) > 0;
  return made;
}

}  // namespace

//! A task with its judge, and what is known of its plans.
class JudgeAssessor::OpenTask {
 public:
  OpenTask(JudgeAssessor& owner, TrainingTask task) : owner_(owner), training_task_(std::move(task)) {}

  const std::string& hash() const { return task_.hash; }

  std::vector<Assessment> assess(const std::vector<std::string>& texts) {
    std::vector<Result<Plan>> plans;
    for (const std::string& text : texts) plans.push_back(plan_program(task_.graph, text));
    const std::set<std::string> known = judge_unknown(texts, plans);
    std::vector<Assessment> assessments;
    for (std::size_t i = 0; i < texts.size(); ++i) assessments.push_back(assessment(texts[i], plans[i], known));
    forget_what_is_not_known();
    return assessments;
  }

  Assessment assess_afresh(const std::string& text) {
    const CompiledProgram program = compile_program(task_.graph, owner_.backend_, "sample.cu", text);
    return from_record(to_record(judged(program)));
  }

 private:
  using Measured = std::map<std::string, Assessment>;  //!< by plan hash

  //! Returns those that nobody had to judge.
  std::set<std::string> judge_unknown(const std::vector<std::string>& texts, const std::vector<Result<Plan>>& plans) {
    std::map<std::string, std::string> unknown;  // plan hash -> text
    std::set<std::string> known;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (!plans[i]) continue;
      const std::string& hash = plans[i].value().hash;
      if (unknown.contains(hash)) continue;
      if (look_up(hash))
        known.insert(hash);
      else
        unknown.emplace(hash, texts[i]);
    }
    judge(unknown);
    return known;
  }

  bool look_up(const std::string& plan_hash) {
    if (measured_.contains(plan_hash)) return true;
    const auto record = find(plan_hash);
    if (record) measured_[plan_hash] = from_record(*record);
    return record.has_value();
  }

  std::optional<EvaluationRecord> find(const std::string& plan_hash) const {
    if (owner_.archive_ == nullptr) return std::nullopt;
    return owner_.archive_->find({plan_hash, task_.hash, owner_.backend_.info().name, std::string(to_string(mode)),
                                  std::string(to_string(precision))});
  }

  void judge(const std::map<std::string, std::string>& programs) {
    CompileQueue queue(
        [this](const std::string& name, const std::string& text) {
          return compile_program(task_.graph, owner_.backend_, name, text);
        },
        owner_.options_.jobs);
    for (const auto& [plan_hash, text] : programs) queue.add("sample.cu", text);
    for (const auto& [plan_hash, text] : programs) {
      if (owner_.options_.stop()) {
        measured_[plan_hash] = failed({Status::judge_error, "somebody asked to stop"}, plan_hash);
        continue;
      }
      measured_[plan_hash] = measured(queue.next(), plan_hash);
    }
  }

  //! Our own failures are tried again with a new judge: the program cannot do anything about them.
  Assessment measured(const CompiledProgram& program, const std::string& plan_hash) {
    Evaluation evaluation = judged(program);
    for (int attempt = 1; attempt < owner_.options_.attempts && evaluation.status == Status::judge_error; ++attempt) {
      owner_.options_.report(fmt::format("{}: {} (tried again)", task_.name, evaluation.failure.message));
      judge_.reset();
      evaluation = judged(program);
    }
    record(program.text, evaluation);
    Assessment made = from_record(to_record(evaluation));
    made.outcome.plan_hash = plan_hash;
    return made;
  }

  Evaluation judged(const CompiledProgram& program) try {
    TaskJudge& judge = judge_of_task();
    if (owner_.backend_.predicted()) judge.reseed(seed_of_plan(program.plan.hash));
    return judge.evaluate(program, best_reward());
  } catch (const Error& problem) {  // the reference does not run
    Evaluation evaluation;
    evaluation.failure = {Status::judge_error, problem.what()};
    return evaluation;
  }

  TaskJudge& judge_of_task() {
    if (judge_) return *judge_;
    JudgeOptions options = judge_options(owner_.options_);
    if (owner_.backend_.predicted()) options.seed = seed_of_plan("");
    judge_ = std::make_unique<TaskJudge>(owner_.backend_, task_, options);
    return *judge_;
  }

  //! What a plan meets must not depend on those that were judged before it: predicted times may follow the inputs.
  std::uint64_t seed_of_plan(const std::string& plan_hash) const {
    return seed_for(owner_.options_.seed, task_.hash, plan_hash);
  }

  void record(const std::string& text, const Evaluation& evaluation) {
    if (owner_.archive_ == nullptr || evaluation.status == Status::judge_error) return;
    owner_.archive_->record({task_.hash, task_.name, task_.source_text}, text, to_record(evaluation));
  }

  //! Whoever asks again has them tried again. What is not stable may be another time.
  void forget_what_is_not_known() {
    std::erase_if(measured_, [](const auto& entry) {
      const Status status = entry.second.outcome.status;
      return status == Status::judge_error || status == Status::unstable;
    });
  }

  //! What is far above it is measured again.
  double best_reward() {
    if (!best_on_record_ && owner_.archive_ != nullptr)
      best_on_record_ = best_known(*owner_.archive_, task_.hash, owner_.backend_.info().name);
    double best = best_on_record_.value_or(0.0);
    for (const auto& [plan_hash, assessment] : measured_)
      if (assessment.outcome.status == Status::ok) best = std::max(best, assessment.outcome.speedup);
    return best;
  }

  Assessment assessment(const std::string& text, const Result<Plan>& plan, const std::set<std::string>& known) {
    if (!plan) return failed(plan.failure());
    Assessment made = measured_.at(plan.value().hash);
    made.is_known = known.contains(plan.value().hash);
    if (!is_correct(made.outcome.status)) return made;
    made.techniques = technique_names(task_.graph, text);
    try {
      made.outcome.replaced_share = replaced_share(plan.value(), reference_profile());
    } catch (const Error& problem) {
      return failed({Status::judge_error, problem.what()}, made.outcome.plan_hash);
    }
    return made;
  }

  //! Where the empty program's time goes; measured once for a task and GPU.
  const vgpu::ProfileReport& reference_profile() {
    if (!reference_) reference_ = vgpu::report_from_json(reference_profile_text());
    return *reference_;
  }

  std::string reference_profile_text() {
    if (const auto record = find(hash_of_empty_plan(training_task_)))
      if (std::string known = profile_of(*record); !known.empty()) return known;
    judge_of_task().profile_steps(true);
    const Evaluation evaluation = judged(compile_program(task_.graph, owner_.backend_, "empty.cu", ""));
    judge_of_task().profile_steps(false);
    if (evaluation.profile.empty())
      throw Error(
          fmt::format("{}: where the reference's time goes is not known: {}", task_.name, evaluation.failure.message));
    record("", evaluation);
    return evaluation.profile;
  }

  JudgeAssessor& owner_;
  TrainingTask training_task_;
  const Task& task_ = training_task_.task;
  std::unique_ptr<TaskJudge> judge_;
  Measured measured_;
  std::optional<double> best_on_record_;
  std::optional<vgpu::ProfileReport> reference_;
};

JudgeAssessor::JudgeAssessor(Backend& backend, Archive* archive, JudgeAssessorOptions options)
    : backend_(backend), archive_(archive), options_(std::move(options)) {}
JudgeAssessor::~JudgeAssessor() = default;

JudgeAssessor::OpenTask& JudgeAssessor::open(const TrainingTask& task) {
  if (!open_ || open_->hash() != task.task.hash) {
    open_.reset();  // its memory first
    open_ = std::make_unique<OpenTask>(*this, task);
  }
  return *open_;
}

std::vector<Assessment> JudgeAssessor::assess(std::span<const SubmittedProgram> programs) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<const TrainingTask*> tasks;  // in the order in which they come
  std::map<std::string, std::vector<std::size_t>> by_task;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    std::vector<std::size_t>& members = by_task[programs[i].task->task.hash];
    if (members.empty()) tasks.push_back(programs[i].task);
    members.push_back(i);
  }
  std::vector<Assessment> assessments(programs.size());
  for (const TrainingTask* task : tasks) {
    const std::vector<std::size_t>& members = by_task[task->task.hash];
    std::vector<std::string> texts;
    for (const std::size_t i : members) texts.push_back(programs[i].text);
    std::vector<Assessment> made = open(*task).assess(texts);
    for (std::size_t k = 0; k < members.size(); ++k) assessments[members[k]] = std::move(made[k]);
  }
  const std::lock_guard lock(counting_);
  for (const Assessment& assessment : assessments) count(counts_, assessment);
  counts_.seconds += seconds_since(begin);
  return assessments;
}

Assessment JudgeAssessor::assess_afresh(const TrainingTask& task, const std::string& text) {
  return open(task).assess_afresh(text);
}

std::string JudgeAssessor::empty_plan_hash(const TrainingTask& task) { return hash_of_empty_plan(task); }

}  // namespace cudal1
