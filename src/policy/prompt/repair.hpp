// A failed program goes back to its model with the error, as long as that is worth another answer.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/chat_message.hpp"
#include "policy/prompt/answer.hpp"
#include "policy/prompt/prompt.hpp"

namespace cudal1 {

//! An answer that did not lead to a right program.
struct FailedAttempt {
  std::string program;  //!< empty: none was found
  Failure failure;
};

//! Of an answer without a whole program: a parse error with the reason.
FailedAttempt failed_attempt(const Answer& answer);

//! What the model is told about it.
std::string repair_text(const FailedAttempt& attempt, PromptForm form);

//! Can the one who wrote the program do anything about it? Not about our own failures, and not about programs that are
//! right.
bool is_repairable(Status status);

class RepairConversation {
 public:
  //! At most `most_turns` follow-ups. `options` are those that the prompt was made with.
  RepairConversation(const Prompt& prompt, PromptOptions options, int most_turns);

  //! What to send: the prompt, then pairs of attempt and follow-up. There is no system message, which some models do
  //! not know.
  const std::vector<ChatMessage>& messages() const { return messages_; }

  //! The answer to messages() failed so. True: messages() now has the follow-up. False: why_over() says why not.
  //! Earlier turns are forgotten where they leave no room for the answer.
  bool add_failure(const FailedAttempt& attempt);
  //! The same for an answer without a whole program. Who refuses is not asked again.
  bool add_failure(const Answer& answer);

  int turns() const { return turns_; }
  bool is_over() const { return !why_over_.empty(); }
  const std::string& why_over() const { return why_over_; }

 private:
  std::string why_not_again(const FailedAttempt& attempt) const;
  bool fits(const std::vector<ChatMessage>& messages) const;

  PromptOptions options_;
  std::size_t answer_tokens_;
  int most_turns_;
  int turns_ = 0;
  std::vector<ChatMessage> messages_;
  std::set<std::string> programs_;  //!< white space folded
  std::set<std::string> errors_;    //!< status and message
  std::string why_over_;
};

}  // namespace cudal1
