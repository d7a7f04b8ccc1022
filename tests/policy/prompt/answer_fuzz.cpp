// Answers of arbitrary bytes: libFuzzer drives this with -DCUDAL1_BUILD_FUZZERS=ON, answer_fuzz_smoke.cpp in the
// ordinary tests.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "policy/prompt/answer.hpp"
#include "policy/prompt/answer_blocks.hpp"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "invariant broken: %s\n", what);
  std::abort();
}

void check(const cudal1::Answer& answer) {
  using cudal1::AnswerOutcome;
  require(!answer.reason.empty() && answer.reason.find('\n') == std::string::npos, "the reason is one line");
  require(answer.outcome != AnswerOutcome::program || cudal1::has_directive(answer.program),
          "a program has directives");
  require(answer.outcome != AnswerOutcome::empty_program || !cudal1::has_directive(answer.program),
          "an empty program has none");
  const bool has_none = answer.outcome == AnswerOutcome::no_program || answer.outcome == AnswerOutcome::refusal;
  require(!has_none || answer.program.empty(), "no program is no text");
  require(answer.program.find('\r') == std::string::npos, "line ends are of one kind");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cudal1::FinishReason;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const FinishReason finish : {FinishReason::unknown, FinishReason::stop, FinishReason::length})
    check(cudal1::read_answer(text, finish));
  const cudal1::Answer answer = cudal1::read_answer(text, FinishReason::stop);
  if (answer.outcome != cudal1::AnswerOutcome::program) return 0;
  // What was found in an answer is found again when it is the answer, but for what ends blocks and thinking.
  if (answer.program.find("``````````") != std::string::npos || answer.program.find("think") != std::string::npos)
    return 0;
  const cudal1::Answer again = cudal1::read_answer("``````````\n" + answer.program + "``````````\n");
  require(again.outcome == cudal1::AnswerOutcome::program, "a program stays one");
  return 0;
}
