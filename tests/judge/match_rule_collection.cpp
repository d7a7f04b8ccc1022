#include "match_rule_collection.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "base/files.hpp"
#include "graph/executor.hpp"
#include "judge/judge.hpp"
#include "judge/reduction_length.hpp"

namespace cudal1::testing {
namespace {

namespace fs = std::filesystem;

//! The same draws in every run; CUDAL1_MATCH_RULE_SEED names others.
std::uint64_t collection_seed() {
  const char* seed = std::getenv("CUDAL1_MATCH_RULE_SEED");
  return seed == nullptr ? 20261115 : std::strtoull(seed, nullptr, 10);
}

constexpr int rounds_of_sets = 2;
constexpr std::chrono::milliseconds call_limit{60000};

Task task_with_metas(const std::string& name) {
  Task task = load_task(match_rule_folder() / name);
  infer_metas(task);
  return task;
}

template <class T>
T value_of(Result<T> result, const std::string& file) {
  if (!result) throw Error(fmt::format("{}: {}\n{}", file, result.failure().message, result.failure().details));
  return std::move(result).value();
}

bool is_worse(const MatchRuleSample& a, const MatchRuleSample& b) {
  if ((a.error.mismatches > 0) != (b.error.mismatches > 0)) return a.error.mismatches > 0;
  return a.error.margin() > b.error.margin();
}

//! Tab-separated, one line a program and set, into the file that CUDAL1_MATCH_RULE_TABLE names.
void record(MatchRuleTask& task, const std::string& program, const std::vector<MatchRuleSample>& samples) {
  const char* path = std::getenv("CUDAL1_MATCH_RULE_TABLE");
  if (path == nullptr) return;
  std::ofstream out(path, std::ios::app);
  for (const auto& [error, budget] : samples)
    out << fmt::format("{}\t{}\t{}\t{}\t{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}\t{}\t{}\n", program,
                       error.distribution, task.longest_reduction(), error.mismatches, error.margin(), error.max_error,
                       error.rms_error, budget.reference_max, budget.reference_rms, budget.scale, budget.movement,
                       budget.distinct, error.output);
}

}  // namespace

fs::path match_rule_folder() { return fs::path(CUDAL1_SOURCE_DIR) / "tests" / "match_rule"; }

std::vector<std::string> match_rule_programs() {
  std::vector<std::string> found;
  for (const fs::path& file : files_below(match_rule_folder()))
    if (file.extension() == ".cu") found.push_back(fs::relative(file, match_rule_folder()).string());
  std::sort(found.begin(), found.end());
  return found;
}

MatchRuleTask::MatchRuleTask(Backend& backend, const std::string& name)
    : backend_(backend),
      lock_(backend.info().uuid),
      context_(backend, task_with_metas(name), PrecisionPolicy::standard, collection_seed()) {
  const auto guard = lock_.share();
  Random random(collection_seed());
  for (int i = 0; i < rounds_of_sets; ++i) {
    Round round;
    round.constants = context_.draw_constants(random.next(), i > 0);
    for (const Distribution distribution : context_.distributions()) {
      InputSet set{distribution, context_.with_inputs(round.constants, distribution, random.next()), {}};
      set.expected = context_.rule().expect(set.leaves, distribution, random.next());
      round.sets.push_back(std::move(set));
    }
    rounds_.push_back(std::move(round));
  }
}

std::int64_t MatchRuleTask::longest_reduction() const {
  std::int64_t longest = 1;
  for (const Node& node : context_.task().graph.nodes)
    longest = std::max(longest, terms_of(context_.task().graph, node));
  return longest;
}

std::vector<MatchRuleSample> MatchRuleTask::measure(const std::string& file) {
  const auto guard = lock_.share();
  const std::string text = read_file(match_rule_folder() / name() / file);
  const CompiledProgram program = compile_program(context_.task().graph, backend_, file, text);
  if (program.failure) throw Error(file + ": " + program.failure->message + "\n" + program.failure->details);
  value_of(context_.candidate().load(program.plan, program.module, context_.flags()), file);
  std::vector<MatchRuleSample> samples;
  for (const Round& round : rounds_) measure_round(round, samples);
  return samples;
}

void MatchRuleTask::measure_round(const Round& round, std::vector<MatchRuleSample>& samples) {
  PlanSession& session = context_.candidate();
  value_of(session.set_constants(round.constants, call_limit), name());
  for (const InputSet& set : round.sets) {
    value_of(session.call(set.leaves, Poison::not_a_number, call_limit, false), name());
    const auto errors = context_.rule().compare(set.expected, results_in(context_, session), set.distribution);
    if (const auto violation = session.find_violation(true)) throw Error(violation->message);
    for (std::size_t i = 0; i < errors.size(); ++i) samples.push_back({errors[i], set.expected.budgets[i]});
  }
}

MatchRuleTask& match_rule_task(Backend& backend, const std::string& program) {
  static std::string current;
  static std::unique_ptr<MatchRuleTask> task;
  const std::string wanted = fs::path(program).parent_path().string();
  if (current != wanted) {
    task.reset();  // it holds two runner processes and their memory
    task = std::make_unique<MatchRuleTask>(backend, wanted);
    current = wanted;
  }
  return *task;
}

void expect_verdict_in_name(Backend& backend, const std::string& program) {
  MatchRuleTask& task = match_rule_task(backend, program);
  const std::string file = fs::path(program).filename().string();
  const std::vector<MatchRuleSample> samples = task.measure(file);
  record(task, program, samples);
  const auto worst = std::min_element(samples.begin(), samples.end(), is_worse);
  const OutputError& error = worst->error;
  if (file.starts_with("undecided-")) return;  // measured, promised nothing
  EXPECT_EQ(error.matches(), file.starts_with("honest-"))
      << program << ": " << error.margin() << " of the budget on " << error.distribution << " inputs, "
      << error.mismatches << " mismatches; largest error " << error.max_error << " of " << error.max_budget << ", rms "
      << error.rms_error << " of " << error.rms_budget << ", index " << error.slice.index << " of dimension "
      << error.slice.dimension << " " << error.slice.error << " of " << error.slice.budget;
}

}  // namespace cudal1::testing
