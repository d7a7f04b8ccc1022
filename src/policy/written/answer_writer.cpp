#include "policy/written/answer_writer.hpp"

#include <utility>

#include "policy/prompt/profile_text.hpp"

namespace cudal1 {
namespace {

PromptOptions prompt_options(const TextGenerator& generator, const LanguageModelOptions& options) {
  PromptOptions made;
  made.form = options.form;
  made.context_tokens = generator.context_tokens();
  made.answer_tokens = options.answer_tokens;
  made.card = options.card;
  made.count_tokens = [&generator](std::string_view text) { return generator.count_tokens(text); };
  return made;
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
  for (const std::size_t index : select_exemplars(seen, options_.exemplars, random_))
    shown.exemplars.push_back({seen[index].text, seen[index].reward,
                               options_.profiles ? profile_text(seen[index].profile, options_.form) : std::string()});
  const PromptOptions options = prompt_options(generator_, options_);
  return {make_prompt(shown, options), options, options_.repair_turns};
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
