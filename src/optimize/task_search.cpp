#include "optimize/task_search.hpp"

#include <fmt/format.h>

#include "archive/evaluation_record.hpp"
#include "optimize/recorded_programs.hpp"
#include "optimize/replaced_time.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {

TaskSearch::TaskSearch(Backend& backend, Task task, Archive* archive, std::unique_ptr<Policy> policy,
                       TaskSearchOptions options)
    : backend_(backend),
      task_(std::move(task)),
      archive_(archive),
      options_(std::move(options)),
      policy_(std::move(policy)),
      queue_([this](const std::string& name,
                    const std::string& text) { return compile_program(task_.graph, backend_, name, text); },
             options_.jobs),
      identity_{judge_for(Use::search).hash(), backend.info().name, options_.policy_name} {
  SearchParts parts;
  parts.policy = policy_.get();
  parts.start = [this](const std::string& text) { queue_.add(fmt::format("search-{}.cu", ++started_), text); };
  parts.finish = [this](double best) { return judge_for(Use::search).evaluate(queue_.next(), best); };
  parts.stop = options_.stop;
  run_ = std::make_unique<SearchRun>(std::move(parts), options_.limits, on_record(),
                                     read_progress(options_.progress_file, identity_));
}

TaskJudge& TaskSearch::judge_for(Use use) {
  if (judge_ && judge_is_for_ == use) return *judge_;
  JudgeOptions made;
  made.mode = use == Use::confirm ? JudgeMode::result : JudgeMode::fast;
  made.precision = options_.precision;
  made.bytes_for_input_sets = options_.bytes_for_input_sets;
  made.beside_other_judges = options_.beside_other_judges;
  made.profile_steps = use == Use::search && options_.profile_programs;
  judge_.reset();
  judge_ = std::make_unique<TaskJudge>(backend_, task_, made);
  judge_is_for_ = use;
  return *judge_;
}

Evaluation TaskSearch::judged(Use use, const std::string& name, const std::string& text) {
  return judge_for(use).evaluate(compile_program(task_.graph, backend_, name, text));
}

//! Programs of this task on this device, as parents of new ones.
std::vector<ScoredProgram> TaskSearch::on_record() {
  if (archive_ == nullptr) return {};
  return recorded_programs(*archive_, identity_.task_hash, backend_.info().name, options_.precision);
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
    archive_->record({judge_->hash(), judge_->name(), judge_->source_text()}, finding.text,
                     to_record(finding.evaluation));
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
  if (backend_.predicted()) return JudgedProgram{*text, judged(Use::search, "best.cu", *text)};
  JudgedProgram best{*text, judged(Use::confirm, "best.cu", *text)};
  record(best);
  return best;
}

std::vector<PartEffect> TaskSearch::effects(const std::string& text) {
  return effects_of_parts(text, false,
                          [this](const std::string& part) { return judged(Use::search, "part.cu", part); });
}

std::optional<double> TaskSearch::replaced_share() {
  const auto text = best_text();
  if (!text) return std::nullopt;
  const auto plan = plan_program(task_.graph, *text);
  if (!plan) return std::nullopt;
  judge_for(Use::search).profile_steps(true);
  const Evaluation empty = judged(Use::search, "empty.cu", "");
  judge_for(Use::search).profile_steps(options_.profile_programs);
  if (empty.profile.empty()) return std::nullopt;
  return cudal1::replaced_share(plan.value(), vgpu::report_from_json(empty.profile));
}

}  // namespace cudal1
