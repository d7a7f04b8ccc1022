#include "optimize/task_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "archive/evaluation_record.hpp"
#include "optimize/recorded_programs.hpp"
#include "optimize/replaced_time.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t most_confirmed = 3;  // whoever fails more often than that has found nothing
// Programs are ranked here, and the best is measured once more: others need not wait for digits of slow ones.
constexpr double longest_search_measurement_seconds = 2.0;

//! By what it did, whatever else the device was busy with.
bool is_proven_wrong(Status status) {
  return status == Status::wrong_result || status == Status::out_of_bounds || status == Status::modified_input ||
         status == Status::nondeterministic || status == Status::wrong_when_timed || status == Status::illegal_access ||
         status == Status::unsafe;
}

//! What its program is tried as the best with. One that is right, but was measured differently by different processes,
//! has what it was at least; figures are taken later.
std::optional<double> claim_of(const Evaluation& evaluation) {
  if (evaluation.reward || evaluation.status != Status::unstable || !evaluation.timing) return evaluation.reward;
  return evaluation.timing->speedup;
}

}  // namespace

TaskSearch::TaskSearch(Backend& backend, Task task, Archive* archive, std::unique_ptr<Policy> policy,
                       TaskSearchOptions options)
    : backend_(backend),
      task_(std::move(task)),
      archive_(archive),
      options_(std::move(options)),
      policy_(std::move(policy)),
      queue_([this](const std::string& name, const std::string& text) { return compiled(name, text); }, options_.jobs),
      identity_{judge_for(Use::search).hash(), backend.info().name, options_.policy_name} {
  SearchParts parts;
  parts.policy = policy_.get();
  parts.start = [this](const std::string& text) { queue_.add(fmt::format("search-{}.cu", ++started_), text); };
  parts.finish = [this](double best) { return judge_for(Use::search).evaluate(queue_.next(), best); };
  parts.stop = options_.stop;
  std::vector<ScoredProgram> known = on_record();
  const SearchRun::Spent spent = spent_before(known);
  run_ = std::make_unique<SearchRun>(std::move(parts), options_.limits, std::move(known), spent);
}

//! Nothing where what was found for it is not on record, in another archive perhaps: there is nothing to go on from.
SearchRun::Spent TaskSearch::spent_before(const std::vector<ScoredProgram>& known) const {
  return known.empty() ? SearchRun::Spent{} : read_progress(options_.progress_file, identity_);
}

TaskJudge& TaskSearch::judge_for(Use use) {
  if (judge_ && judge_is_for_ == use) return *judge_;
  JudgeOptions made;
  made.mode = use == Use::search ? JudgeMode::fast : JudgeMode::result;
  made.precision = options_.precision;
  made.bytes_for_input_sets = options_.bytes_for_input_sets;
  made.beside_other_judges = options_.beside_other_judges;
  made.profile_steps = use == Use::search && options_.profile_programs;
  if (use == Use::search) made.longest_measurement_seconds = longest_search_measurement_seconds;
  made.confirm_only_records = use == Use::search;
  judge_.reset();
  judge_ = std::make_unique<TaskJudge>(backend_, task_, made);
  judge_is_for_ = use;
  return *judge_;
}

Evaluation TaskSearch::judged(Use use, const std::string& name, const std::string& text) {
  return judge_for(use).evaluate(compiled(name, text));
}

CompiledProgram TaskSearch::compiled(const std::string& name, const std::string& text) const {
  return compile_program(task_.graph, backend_, name, text, options_.precision);
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

//! Each text once; what this run has measured of it counts. Who was found wrong after it had been right, on inputs of
//! its own, is none: it would be the best of every later run, too.
std::vector<TaskSearch::Candidate> TaskSearch::best_first() {
  std::map<std::string, Candidate> by_text;
  for (const ScoredProgram& known : on_record()) {
    Candidate& candidate = by_text[known.text];
    if (is_proven_wrong(known.failure.status)) candidate = {};
    if (known.reward > candidate.reward) candidate = {known.text, known.reward};
  }
  for (const JudgedProgram& found : run_->judged())
    if (const auto claim = claim_of(found.evaluation)) by_text[found.text] = {found.text, *claim, &found};
  std::vector<Candidate> candidates;
  for (auto& [text, candidate] : by_text)
    if (candidate.reward > 0.0) candidates.push_back(std::move(candidate));
  std::ranges::stable_sort(candidates, [](const Candidate& one, const Candidate& other) {
    return one.reward != other.reward ? one.reward > other.reward : one.found != nullptr && other.found == nullptr;
  });
  return candidates;
}

//! Without reading the record again: what was right there is in best_reward().
bool TaskSearch::has_candidates() const {
  const auto is_candidate = [](const JudgedProgram& found) { return claim_of(found.evaluation).has_value(); };
  return run_->best_reward() > 0.0 || std::ranges::any_of(run_->judged(), is_candidate);
}

std::optional<JudgedProgram> TaskSearch::confirmed_best() {
  std::optional<JudgedProgram> best;
  std::vector<Candidate> candidates = best_first();
  candidates.resize(std::min(candidates.size(), most_confirmed));
  for (const Candidate& candidate : candidates) {
    best = confirmed(candidate);
    if (best->evaluation.status == Status::ok || best->evaluation.status == Status::judge_error) break;
  }
  return best;
}

JudgedProgram TaskSearch::confirmed(const Candidate& candidate) {
  if (backend_.predicted()) return {candidate.text, judged(Use::search, "best.cu", candidate.text)};
  if (options_.best_is_timed_later) return verified_again(found_again(candidate));
  JudgedProgram best{candidate.text, judged(Use::confirm, "best.cu", candidate.text)};
  record(best);
  return best;
}

//! As this run has found it; who is on record from an earlier one is judged as one of this run.
JudgedProgram TaskSearch::found_again(const Candidate& candidate) {
  if (candidate.found != nullptr) return *candidate.found;
  return {candidate.text, judged(Use::search, "best.cu", candidate.text)};
}

JudgedProgram TaskSearch::verified_again(const JudgedProgram& found) {
  if (!is_correct(found.evaluation.status)) {
    record(found);
    return found;
  }
  JudgedProgram again{found.text, judge_for(Use::search).verify_again(compiled("best.cu", found.text))};
  if (again.evaluation.status == Status::ok) {
    JudgedProgram right = found;
    right.evaluation.status = Status::ok;
    right.evaluation.failure = {};
    right.evaluation.reward = claim_of(found.evaluation);
    return right;
  }
  record(again);
  return again;
}

std::vector<PartEffect> TaskSearch::effects(const std::string& text) {
  return effects_of_parts(text, false,
                          [this](const std::string& part) { return judged(Use::search, "part.cu", part); });
}

void TaskSearch::profile_reference() {
  reference_profile_ = judge_for(Use::search).profile_reference();
}

std::optional<double> TaskSearch::replaced_share(const std::string& text) const {
  const auto plan = plan_program(task_.graph, text);
  if (!plan || reference_profile_.empty()) return std::nullopt;
  return cudal1::replaced_share(plan.value(), vgpu::report_from_json(reference_profile_));
}

}  // namespace cudal1
