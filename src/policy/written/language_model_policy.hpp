// The policy of a language model: it is shown a task with scored programs, and its answers are searched for a new one.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "policy/policy.hpp"
#include "policy/written/answer_writer.hpp"

namespace cudal1 {

//! What came of all samples so far.
struct GenerationTotals {
  int samples = 0, failures = 0;  //!< failures: the generator gave no text
  int programs = 0;               //!< that were new
  int copies = 0;                 //!< of programs that were proposed or seen before
  int no_program = 0, refusals = 0, cut_off = 0, empty_programs = 0;
  int repairs = 0;  //!< conversations that went on after a failure
  std::int64_t prompt_tokens = 0, new_tokens = 0;
  double cost = 0.0;
};

class LanguageModelPolicy : public Policy {
 public:
  explicit LanguageModelPolicy(AnswerWriter writer) : writer_(std::move(writer)) {}

  //! A text that was neither proposed before nor seen. Asks the model as often as that takes, within
  //! `most_fruitless_asks`; once where nobody answers, since whoever generates has tried again by then.
  std::optional<std::string> propose(const std::vector<ScoredProgram>& seen) override;

  const GenerationTotals& totals() const { return totals_; }

 private:
  void look_at(const std::vector<ScoredProgram>& seen);
  //! Each says whether there was any answer.
  bool ask(const std::vector<ScoredProgram>& seen);
  std::optional<RepairConversation> new_conversation(const std::vector<ScoredProgram>& seen);
  bool ask_for_repair();
  bool ask_for(int samples, const RepairConversation& conversation);
  void take(const WrittenAnswer& said, const RepairConversation& conversation);
  void take_program(const Answer& answer, const RepairConversation& conversation);
  void go_on(RepairConversation conversation, const FailedAttempt& failed);

  AnswerWriter writer_;
  std::deque<std::string> ready_;                            //!< to be proposed
  std::deque<RepairConversation> broken_;                    //!< to be gone on with
  std::map<std::string, RepairConversation> conversations_;  //!< that led to a program, by its text
  std::set<std::string> known_;                              //!< texts that were proposed or seen
  std::size_t looked_at_ = 0;
  std::uint64_t next_sample_ = 0;
  bool has_no_room_ = false;  //!< for a prompt
  GenerationTotals totals_;
};

}  // namespace cudal1
