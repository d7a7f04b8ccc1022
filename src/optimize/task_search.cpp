#include "optimize/task_search.hpp"

#include <fmt/format.h>

#include "archive/evaluation_record.hpp"
#include "optimize/replaced_time.hpp"

namespace cudal1 {

TaskSearch::TaskSearch(Backend& backend, Task task, Archive* archive,
                       const std::function<std::unique_ptr<Policy>(const OpGraph&)>& make_policy,
                       TaskSearchOptions options)
    : backend_(backend),
      task_(std::move(task)),
      archive_(archive),
      options_(std::move(options)),
      judge_(backend, task_, judge_options(options_, JudgeMode::fast)),
      policy_(make_policy(task_.graph)),
      queue_([this](const std::string& name, const std::string& text) { return judge_.compile(name, text); },
             options_.jobs),
      identity_{judge_.hash(), backend.info().name, options_.policy_name} {
  SearchParts parts;
  parts.policy = policy_.get();
  parts.start = [this](const std::string& text) { queue_.add(fmt::format("search-{}.cu", ++started_), text); };
  parts.finish = [this](double best) { return judge_.evaluate(queue_.next(), best); };
  parts.stop = options_.stop;
  run_ = std::make_unique<SearchRun>(std::move(parts), options_.limits, on_record(),
                                     read_progress(options_.progress_file, identity_));
}

JudgeOptions TaskSearch::judge_options(const TaskSearchOptions& options, JudgeMode mode) {
  JudgeOptions made;
  made.mode = mode;
  made.precision = options.precision;
  return made;
}

//! Programs of this task on this device, as parents of new ones.
std::vector<ScoredProgram> TaskSearch::on_record() {
  std::vector<ScoredProgram> programs;
  if (archive_ == nullptr) return programs;
  const std::string precision(to_string(options_.precision));
  for (const EvaluationRecord& record : archive_->evaluations(judge_.hash())) {
    if (record.gpu != backend_.info().name || record.precision != precision) continue;
    const double reward = record.status == to_string(Status::ok) ? record.reward.value_or(0.0) : 0.0;
    if (auto text = archive_->program_text(record.program_hash))
      programs.push_back({std::move(*text), reward, record.candidate_ms.value_or(0.0)});
  }
  return programs;
}

bool TaskSearch::step() {
  const JudgedProgram* finding = run_->step();
  if (finding == nullptr) return !run_->is_over();
  record(*finding);
  write_progress(options_.progress_file, identity_, run_->spent());
  return !run_->is_over();
}

void TaskSearch::record(const JudgedProgram& finding) {
  if (archive_ == nullptr) return;
  try {
    archive_->record({judge_.hash(), judge_.name(), judge_.source_text()}, finding.text, to_record(finding.evaluation));
  } catch (const Error& problem) {
    options_.report(fmt::format("{} (the search goes on; nothing more is recorded)", problem.what()));
    archive_ = nullptr;
  }
}

std::optional<std::string> TaskSearch::best_text() {
  const JudgedProgram* best = run_->best();
  const double found = best != nullptr ? *best->evaluation.reward : 0.0;
  if (found >= run_->best_reward() && best != nullptr) return best->text;
  std::optional<std::string> text;
  double reward = 0.0;
  for (const ScoredProgram& known : on_record())
    if (known.reward > reward) {
      reward = known.reward;
      text = known.text;
    }
  return text;
}

std::optional<JudgedProgram> TaskSearch::confirmed_best() {
  const auto text = best_text();
  if (!text) return std::nullopt;
  if (backend_.predicted()) return JudgedProgram{*text, judge_.evaluate(judge_.compile("best.cu", *text))};
  TaskJudge careful(backend_, task_, judge_options(options_, JudgeMode::result));
  JudgedProgram best{*text, careful.evaluate(careful.compile("best.cu", *text))};
  record(best);
  return best;
}

std::vector<PartEffect> TaskSearch::effects(const std::string& text) {
  return effects_of_parts(text, false, [this](const std::string& part) {
    return judge_.evaluate(judge_.compile("part.cu", part));
  });
}

std::optional<double> TaskSearch::replaced_share(const std::string& text) {
  const CompiledProgram program = judge_.compile("best.cu", text);
  if (program.failure) return std::nullopt;
  JudgeOptions options = judge_options(options_, JudgeMode::fast);
  options.profile_steps = true;
  TaskJudge profiler(backend_, task_, options);
  const Evaluation empty = profiler.evaluate(profiler.compile("empty.cu", ""));
  if (empty.profile.empty()) return std::nullopt;
  return cudal1::replaced_share(program.plan, vgpu::report_from_json(empty.profile));
}

}  // namespace cudal1
