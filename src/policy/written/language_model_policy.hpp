// The policy of a language model: it is shown a task with scored programs, and its answers are searched for a new one.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "policy/policy.hpp"
#include "policy/prompt/exemplar_selection.hpp"
#include "policy/prompt/prompt.hpp"
#include "policy/prompt/repair.hpp"
#include "policy/text_generator.hpp"

namespace cudal1 {

struct LanguageModelOptions {
  PromptForm form = PromptForm::full;
  std::optional<std::size_t> answer_tokens;  //!< not given: the form's own
  ExemplarOptions exemplars;
  std::string grammar;             //!< GBNF that answers are held to, where the model can be; empty: none
  std::optional<CardLength> card;  //!< not given: the form's own
  int samples_a_prompt = 4;
  int repair_turns = 1;         //!< how often a program that failed goes back with its error
  int most_fruitless_asks = 4;  //!< in a row, after which there is nothing to propose
};

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
  //! `subject` without exemplars: those are drawn from what is seen. `report` gets a line for each failure of the
  //! generator.
  LanguageModelPolicy(TextGenerator& generator, PromptSubject subject, LanguageModelOptions options, Random random,
                      std::function<void(const std::string&)> report);

  //! A text that was neither proposed before nor seen. Asks the model as often as that takes, within
  //! `most_fruitless_asks`.
  std::optional<std::string> propose(const std::vector<ScoredProgram>& seen) override;

  const GenerationTotals& totals() const { return totals_; }

 private:
  void look_at(const std::vector<ScoredProgram>& seen);
  void ask(const std::vector<ScoredProgram>& seen);
  void ask_for_repair();
  GenerationRequest request_for(const RepairConversation& conversation, int samples);
  RepairConversation new_conversation(const std::vector<ScoredProgram>& seen);
  void take(const GeneratedText& said, const RepairConversation& conversation);
  void take_program(const Answer& answer, const RepairConversation& conversation);
  void go_on(RepairConversation conversation, const FailedAttempt& failed);

  TextGenerator& generator_;
  PromptSubject subject_;
  LanguageModelOptions options_;
  Random random_;
  std::function<void(const std::string&)> report_;
  std::deque<std::string> ready_;                            //!< to be proposed
  std::deque<RepairConversation> broken_;                    //!< to be gone on with
  std::map<std::string, RepairConversation> conversations_;  //!< that led to a program, by its text
  std::set<std::string> known_;                              //!< texts that were proposed or seen
  std::size_t looked_at_ = 0;
  std::uint64_t next_sample_ = 0;
  GenerationTotals totals_;
};

}  // namespace cudal1
