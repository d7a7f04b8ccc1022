// Answers of policies as they come, each judged: how well somebody writes programs, not how far a search gets with
// them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judge/evaluation.hpp"
#include "policy/policy.hpp"
#include "policy/written/answer_writer.hpp"

namespace cudal1 {

struct JudgedSample {
  int number = 0;
  std::string answer;                    //!< an AnswerOutcome, "not_answered" or "nothing_proposed"
  std::string program;                   //!< its text; of one that was cut off, as far as it goes
  std::string reason;                    //!< one line: why there is no program; empty: there is
  std::optional<Evaluation> evaluation;  //!< of programs
  int repairs = 0;
  std::int64_t prompt_tokens = 0, new_tokens = 0;
  double cost = 0.0;
};

//! Who judges, and who gets what came of it.
struct SampleParts {
  //! Begins to compile; judged in the order of these calls.
  std::function<void(const std::string& text)> start;
  std::function<Evaluation(double best_known)> finish;
  //! False: this was the last one that is wanted.
  std::function<bool(JudgedSample)> take;
  //! What was answered or judged while somebody asked to stop is not believed.
  std::function<bool()> stop = [] { return false; };
};

//! The answers of these numbers to one prompt, with exemplars of `on_record`: none depends on another, and copies are
//! judged once and count each. Those that fail go back with their errors as often as the writer's options say; a sample
//! is then what its last answer is. Returns false where somebody asked to stop, or for no more.
bool sample_answers(AnswerWriter& writer, const std::vector<ScoredProgram>& on_record, const std::vector<int>& numbers,
                    const SampleParts& parts);

//! What a policy proposes that sees what became of `seen` and of each proposal before.
bool sample_proposals(Policy& policy, const std::vector<ScoredProgram>& seen, const std::vector<int>& numbers,
                      const SampleParts& parts);

}  // namespace cudal1
