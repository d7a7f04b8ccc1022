// What a model said -> the program in it. Models wrap, quote, explain, forget fences and stop in the middle: as far as
// what they meant is plain, they get it. Nothing that is said makes this throw.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/chat_message.hpp"

namespace cudal1 {

enum class AnswerOutcome {
  program,        //!< with at least one directive; whether it is a good one is the planner's business
  empty_program,  //!< nothing in it would run: no directive
  no_program,     //!< the answer is about something else
  refusal,        //!< "I cannot …"
  cut_off,        //!< the program was not at its end
};

struct Answer {
  AnswerOutcome outcome = AnswerOutcome::no_program;
  std::string program;           //!< as far as it goes; with `no_program` and `refusal` empty
  std::string analysis, design;  //!< the headed parts of these names; empty where there are none
  std::string reason;            //!< one line: where the program was found, or why there is none
};

std::string_view to_string(AnswerOutcome outcome);

Answer read_answer(std::string_view said, FinishReason finish = FinishReason::unknown);

}  // namespace cudal1
