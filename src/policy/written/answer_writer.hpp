// A language model that writes programs for one task: prompts go to it, answers come back with what they hold.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "policy/policy.hpp"
#include "policy/prompt/answer.hpp"
#include "policy/prompt/exemplar_selection.hpp"
#include "policy/prompt/prompt.hpp"
#include "policy/prompt/repair.hpp"
#include "policy/text_generator.hpp"

namespace cudal1 {

struct LanguageModelOptions {
  PromptForm form = PromptForm::full;
  std::optional<std::size_t> answer_tokens;  //!< not given: the form's own
  ExemplarOptions exemplars;
  bool profiles = false;           //!< show where the time of exemplars goes, as far as it is known
  std::string grammar;             //!< GBNF that answers are held to, where the model can be; empty: none
  std::optional<CardLength> card;  //!< not given: the form's own
  ProgramForm program = ProgramForm::directives;
  std::optional<std::size_t> context_tokens;  //!< that prompts are made for; not given: all that the model can see
  ExemplarOrder order = ExemplarOrder::slowest_first;
  bool shows_scores = true;
  bool scores_are_speedups = false;  //!< as they were measured, where that is known; else rewards
  //! How a program is shown; empty: as it is.
  std::function<std::string(const std::string& program)> as_shown;
  bool passes_without_prompt = false;  //!< a task that no prompt has room for is left to others, and a line says so
  int samples_a_prompt = 4;
  int repair_turns = 1;         //!< how often a program that failed goes back with its error
  int most_fruitless_asks = 4;  //!< in a row, after which there is nothing to propose
};

struct WrittenAnswer {
  std::string failure;  //!< one line: why the generator gave no text; empty: it did
  Answer answer;        //!< what the text holds
  std::int64_t prompt_tokens = 0, new_tokens = 0;
  double cost = 0.0;
};

class AnswerWriter {
 public:
  //! `subject` without exemplars: those are drawn from what is seen. `report` gets a line for each kind of failure of
  //! the generator: what has been said once is not said again for every sample.
  AnswerWriter(TextGenerator& generator, PromptSubject subject, LanguageModelOptions options, Random random,
               std::function<void(const std::string&)> report);

  //! A prompt with exemplars of what was seen.
  RepairConversation new_conversation(const std::vector<ScoredProgram>& seen);
  //! One for each sample, whatever it says. The same number again means the same answer.
  std::vector<WrittenAnswer> ask(const RepairConversation& conversation, int samples, std::uint64_t first_sample);

  const LanguageModelOptions& options() const { return options_; }
  void report(const std::string& line) const { report_(line); }

 private:
  std::vector<PromptExemplar> exemplars_of(const std::vector<ScoredProgram>& seen);
  WrittenAnswer read(const GeneratedText& said);

  TextGenerator& generator_;
  PromptSubject subject_;
  LanguageModelOptions options_;
  Random random_;
  std::function<void(const std::string&)> report_;
  std::set<std::string> reported_;
};

}  // namespace cudal1
