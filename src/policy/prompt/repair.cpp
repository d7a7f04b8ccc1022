#include "policy/prompt/repair.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "policy/prompt/answer_text.hpp"
#include "policy/prompt/prompt_template.hpp"
#include "policy/prompt/text_blocks.hpp"

namespace cudal1 {
namespace {

constexpr const char* no_program_text = "(no program)";

//! What usually helps, where the message alone does not say it.
std::string hint_for(Status status) {
  switch (status) {
    case Status::parse_error:
    case Status::plan_error:
      return "Lines that are in doubt can be left out: what no line names runs in the library.";
    case Status::compile_error:
      return "The code below the directives must be device code for NVRTC, with the kernels that directives name.";
    case Status::wrong_result:
    case Status::wrong_when_timed:
    case Status::nondeterministic:
      return "Look at the ends of rows and tensors, at unwritten memory, missing barriers and the accuracy of sums.";
    case Status::illegal_access:
    case Status::out_of_bounds:
    case Status::modified_input:
    case Status::unsafe:
      return "Look at indices at the end of each dimension, and at which pointers the kernel writes.";
    case Status::launch_error:
    case Status::out_of_memory:
    case Status::timeout:
    case Status::compile_timeout:
      return "Ask for less: smaller blocks, less shared memory, smaller buffers, shorter loops.";
    default:
      return "A simpler program that is right is worth more than a fast one that is wrong.";
  }
}

//! The line at the position with a mark under the column; empty where the program has no such line.
std::string marked_line(const std::string& program, SourcePosition at) {
  const auto lines = lines_of(program);
  if (at.line < 1 || static_cast<std::size_t>(at.line) > lines.size()) return {};
  const std::string_view line = lines[static_cast<std::size_t>(at.line) - 1];
  constexpr std::size_t longest = 400;
  if (line.size() > longest) return {};
  const std::size_t column = std::min(static_cast<std::size_t>(std::max(at.column, 1)) - 1, line.size());
  return fmt::format("{}\n{}^\n", line, std::string(column, ' '));
}

std::string place_text(SourcePosition at) {
  if (at.line < 1) return {};
  return fmt::format("line {}, column {}: ", at.line, std::max(at.column, 1));
}

//! The beginning of a compiler's log; what follows comes from the same faults.
std::string beginning_of(std::string_view details) {
  constexpr std::size_t most_lines = 20, most_bytes = 2000;
  std::string beginning;
  std::size_t count = 0;
  for (const std::string_view line : lines_of(details)) {
    if (++count > most_lines || beginning.size() + line.size() > most_bytes) return beginning + "…\n";
    beginning.append(line).append("\n");
  }
  return beginning;
}

std::string message_text(const FailedAttempt& attempt) {
  const Failure& failure = attempt.failure;
  std::string text = fmt::format("{}{}\n", place_text(failure.at), on_one_line(failure.message));
  if (const std::string line = marked_line(attempt.program, failure.at); !line.empty()) text += fenced(line, "");
  if (!trimmed_text(failure.details).empty()) text += fenced(beginning_of(failure.details), "");
  text.pop_back();  // the template ends the line
  return text;
}

std::string attempt_text(const FailedAttempt& attempt, PromptForm form) {
  if (attempt.program.empty()) return no_program_text;
  return form == PromptForm::full ? fenced(attempt.program, "cuda") : attempt.program;
}

}  // namespace

FailedAttempt failed_attempt(const Answer& answer) {
  const bool is_cut = answer.outcome == AnswerOutcome::cut_off;
  return {"", Failure{Status::parse_error, answer.reason + (is_cut ? "; write less" : "")}};
}

std::string repair_text(const FailedAttempt& attempt, PromptForm form) {
  const bool is_full = form == PromptForm::full;
  const Failure& failure = attempt.failure;
  if (attempt.program.empty())
    return filled_prompt_file(is_full ? "repair_no_program_full.md" : "repair_no_program_compact.md",
                              {{"reason", on_one_line(failure.message)}});
  const std::string status(to_string(failure.status));
  if (!is_full)
    return filled_prompt_file("repair_compact.md",
                              {{"status", status}, {"message", place_text(failure.at) + on_one_line(failure.message)}});
  return filled_prompt_file(
      "repair_full.md", {{"status", status}, {"message", message_text(attempt)}, {"hint", hint_for(failure.status)}});
}

bool is_repairable(Status status) { return !is_correct(status) && status != Status::judge_error; }

RepairConversation::RepairConversation(const Prompt& prompt, PromptOptions options, int most_turns)
    : options_(std::move(options)),
      answer_tokens_(options_.answer_tokens.value_or(default_answer_tokens(options_.form))),
      most_turns_(most_turns),
      messages_{{ChatMessage::Role::user, prompt.text}} {}

std::string RepairConversation::why_not_again(const FailedAttempt& attempt) const {
  const Failure& failure = attempt.failure;
  if (!is_repairable(failure.status))
    return fmt::format("'{}' is nothing that another program would mend", to_string(failure.status));
  if (turns_ >= most_turns_) return fmt::format("all {} turns are used", most_turns_);
  if (!attempt.program.empty() && programs_.contains(on_one_line(attempt.program)))
    return "the model wrote a program that has failed already";
  if (errors_.contains(fmt::format("{}: {}", to_string(failure.status), failure.message)))
    return "the program has the same error as an earlier one";
  return {};
}

bool RepairConversation::fits(const std::vector<ChatMessage>& messages) const {
  std::size_t tokens = answer_tokens_;
  for (const ChatMessage& message : messages) tokens += options_.count_tokens(message.text);
  return tokens <= options_.context_tokens;
}

bool RepairConversation::add_failure(const Answer& answer) {
  if (is_over()) return false;
  if (answer.outcome != AnswerOutcome::refusal) return add_failure(failed_attempt(answer));
  why_over_ = answer.reason;
  return false;
}

bool RepairConversation::add_failure(const FailedAttempt& attempt) {
  if (is_over()) return false;
  why_over_ = why_not_again(attempt);
  if (is_over()) return false;
  const ChatMessage said{ChatMessage::Role::assistant, attempt_text(attempt, options_.form)};
  const ChatMessage reply{ChatMessage::Role::user, repair_text(attempt, options_.form)};
  std::vector<ChatMessage> longer = messages_;
  longer.insert(longer.end(), {said, reply});
  if (!fits(longer)) longer = {messages_.front(), said, reply};
  if (!fits(longer)) {
    why_over_ = "the prompt and the failed program leave no room for another answer";
    return false;
  }
  messages_ = std::move(longer);
  programs_.insert(on_one_line(attempt.program));
  errors_.insert(fmt::format("{}: {}", to_string(attempt.failure.status), attempt.failure.message));
  ++turns_;
  return true;
}

}  // namespace cudal1
