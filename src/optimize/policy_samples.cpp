#include "optimize/policy_samples.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "optimize/search_run.hpp"
#include "report/sample_row.hpp"

namespace cudal1 {
namespace {

//! A sample that may still go back to the model.
struct OpenSample {
  JudgedSample sample;
  RepairConversation conversation;
  Answer answer;
};

bool is_program(const JudgedSample& sample) { return sample.answer == to_string(AnswerOutcome::program); }

class AnswerRun {
 public:
  AnswerRun(AnswerWriter& writer, const SampleParts& parts) : writer_(writer), parts_(parts) {}

  bool run(const std::vector<ScoredProgram>& on_record, const std::vector<int>& numbers) {
    std::vector<OpenSample> open = first_answers(on_record, numbers);
    while (!open.empty() && !parts_.stop()) {
      std::vector<OpenSample> again;
      if (!judge(std::move(open), again)) return false;
      open = std::move(again);
    }
    return !parts_.stop();
  }

 private:
  //! One request for each stretch of numbers without a gap.
  std::vector<OpenSample> first_answers(const std::vector<ScoredProgram>& on_record, const std::vector<int>& numbers) {
    const RepairConversation conversation = writer_.new_conversation(on_record);
    std::vector<OpenSample> open;
    for (std::size_t begin = 0, end = 0; begin < numbers.size() && !parts_.stop(); begin = end) {
      for (end = begin + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
      int number = numbers[begin];
      for (const WrittenAnswer& said :
           writer_.ask(conversation, static_cast<int>(end - begin), static_cast<std::uint64_t>(number)))
        open.push_back(heard(said, {.number = number++}, conversation));
    }
    return open;
  }

  static OpenSample heard(const WrittenAnswer& said, JudgedSample sample, RepairConversation conversation) {
    sample.answer = said.failure.empty() ? std::string(to_string(said.answer.outcome)) : not_answered;
    sample.program = said.answer.program;
    sample.reason = !said.failure.empty() ? said.failure : is_program(sample) ? "" : said.answer.reason;
    sample.evaluation.reset();
    sample.prompt_tokens += said.prompt_tokens;
    sample.new_tokens += said.new_tokens;
    sample.cost += said.cost;
    return {std::move(sample), std::move(conversation), said.answer};
  }

  //! Compiles all beside each other; `again` gets the new answers of those that went back.
  bool judge(std::vector<OpenSample> open, std::vector<OpenSample>& again) {
    for (const OpenSample& each : open)
      if (is_program(each.sample) && evaluations_.try_emplace(each.sample.program).second)
        parts_.start(each.sample.program);
    for (OpenSample& each : open) {
      if (parts_.stop()) return false;
      if (is_program(each.sample)) each.sample.evaluation = evaluation_of(each.sample.program);
      if (parts_.stop()) return false;
      if (goes_back(each))
        again.push_back(repaired(std::move(each)));
      else if (!parts_.take(std::move(each.sample)))
        return false;
    }
    return true;
  }

  const Evaluation& evaluation_of(const std::string& program) {
    std::optional<Evaluation>& known = evaluations_.at(program);
    if (!known) known = parts_.finish(best_reward_);
    best_reward_ = std::max(best_reward_, known->reward.value_or(0.0));
    return *known;
  }

  static bool goes_back(OpenSample& open) {
    const JudgedSample& sample = open.sample;
    if (sample.answer == not_answered) return false;
    if (!sample.evaluation) return open.conversation.add_failure(open.answer);
    Failure failure = sample.evaluation->failure;
    failure.status = sample.evaluation->status;
    return is_repairable(failure.status) && open.conversation.add_failure({sample.program, std::move(failure)});
  }

  OpenSample repaired(OpenSample open) {
    ++open.sample.repairs;
    const std::vector<WrittenAnswer> said =
        writer_.ask(open.conversation, 1, static_cast<std::uint64_t>(open.sample.number));
    return heard(said.front(), std::move(open.sample), std::move(open.conversation));
  }

  AnswerWriter& writer_;
  const SampleParts& parts_;
  std::map<std::string, std::optional<Evaluation>> evaluations_;  //!< by text; nothing: it is being compiled
  double best_reward_ = 0.0;
};

}  // namespace

bool sample_answers(AnswerWriter& writer, const std::vector<ScoredProgram>& on_record, const std::vector<int>& numbers,
                    const SampleParts& parts) {
  return AnswerRun(writer, parts).run(on_record, numbers);
}

bool sample_proposals(Policy& policy, const std::vector<ScoredProgram>& seen, const std::vector<int>& numbers,
                      const SampleParts& parts) {
  SearchRun run({&policy, parts.start, parts.finish, parts.stop}, {static_cast<int>(numbers.size())}, seen, {});
  for (const int number : numbers) {
    const JudgedProgram* finding = run.step();
    if (parts.stop()) return false;
    JudgedSample sample{.number = number, .answer = std::string(to_string(AnswerOutcome::program))};
    if (finding != nullptr) {
      sample.program = finding->text;
      sample.evaluation = finding->evaluation;
    } else {
      sample.answer = nothing_proposed;
      sample.reason = "there was nothing more to try";
    }
    if (!parts.take(std::move(sample))) return false;
  }
  return true;
}

}  // namespace cudal1
