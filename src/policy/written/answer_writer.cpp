#include "policy/written/answer_writer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "policy/prompt/profile_text.hpp"
#include "policy/prompt/program_directives.hpp"

namespace cudal1 {
namespace {

PromptOptions prompt_options(const TextGenerator& generator, const LanguageModelOptions& options) {
  PromptOptions made;
  made.form = options.form;
  made.context_tokens = options.context_tokens.value_or(generator.context_tokens());
  made.answer_tokens = options.answer_tokens;
  made.card = options.card;
  made.order = options.order;
  made.program = options.program;
  made.count_tokens = [&generator](std::string_view text) { return generator.count_tokens(text); };
  return made;
}

//! Compact prompts have no room for programs with code in them: drawn, they would take the places of others.
std::vector<ScoredProgram> showable(const std::vector<ScoredProgram>& seen, PromptForm form) {
  std::vector<ScoredProgram> programs;
  std::ranges::copy_if(seen, std::back_inserter(programs), [form](const ScoredProgram& program) {
    return form == PromptForm::full || directives_alone(program.text).has_value();
  });
  return programs;
}

}  // namespace

AnswerWriter::AnswerWriter(TextGenerator& generator, PromptSubject subject, LanguageModelOptions options, Random random,
                           std::function<void(const std::string&)> report)
    : generator_(generator),
      subject_(std::move(subject)),
      options_(std::move(options)),
      random_(random),
      report_(std::move(report)) {}

RepairConversation AnswerWriter::new_conversation(const std::vector<ScoredProgram>& seen) {
  PromptSubject shown = subject_;
  shown.exemplars = exemplars_of(showable(seen, options_.form));
  const PromptOptions options = prompt_options(generator_, options_);
  return {make_prompt(shown, options), options, options_.repair_turns};
}

std::vector<PromptExemplar> AnswerWriter::exemplars_of(const std::vector<ScoredProgram>& seen) {
  std::vector<std::size_t> chosen = select_exemplars(seen, options_.exemplars, random_);
  if (options_.order == ExemplarOrder::as_given) shuffle(chosen, random_);
  std::vector<PromptExemplar> exemplars;
  for (const std::size_t index : chosen) {
    const ScoredProgram& program = seen[index];
    const bool shows_speedup = options_.scores_are_speedups && program.speedup > 0.0;
    exemplars.push_back({options_.as_shown ? options_.as_shown(program.text) : program.text,
                         shows_speedup ? program.speedup : program.reward,
                         options_.profiles ? profile_text(program.profile, options_.form) : std::string(),
                         options_.shows_scores});
  }
  return exemplars;
}

std::vector<WrittenAnswer> AnswerWriter::ask(const RepairConversation& conversation, int samples,
                                             std::uint64_t first_sample) {
  GenerationRequest request{conversation.messages(), samples, first_sample};
  request.answer_tokens = options_.answer_tokens.value_or(default_answer_tokens(options_.form));
  request.grammar = options_.grammar;
  std::vector<WrittenAnswer> answers;
  for (const GeneratedText& said : generator_.generate(request)) answers.push_back(read(said));
  return answers;
}

WrittenAnswer AnswerWriter::read(const GeneratedText& said) {
  WrittenAnswer made{said.failure, {}, said.prompt_tokens, said.new_tokens, said.cost};
  if (said.failure.empty())
    made.answer = read_answer(said.text, said.finish);
  else if (reported_.insert(said.failure).second)
    report_(said.failure);
  return made;
}

}  // namespace cudal1
