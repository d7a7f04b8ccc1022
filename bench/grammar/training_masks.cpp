// What grammars cost a step of training: its answers are followed as the sampler does, all slots token by token, and
// again as the trainer does. Answers are those that stage 1 teaches, and random ones of the grammar.
//   training_masks_bench MODEL.gguf [--tasks N] [--samples N] [--tokens N]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include "base/random.hpp"
#include "base/result.hpp"
#include "model/chat_model.hpp"
#include "policy/grammar/directive_grammar.hpp"
#include "policy/local/grammar_constraint.hpp"
#include "train/course/training_tasks.hpp"
#include "train/data/supervised_data.hpp"
#include "train/rollout/answer_grammars.hpp"
#include "train/training_batch.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

struct Options {
  std::filesystem::path model;
  std::int64_t tasks = 8, samples = 16, tokens = 120;
  std::uint64_t seed = 1;
};

struct HeldAnswer {
  const std::string* grammar = nullptr;
  std::vector<DrawnToken> tokens;
};

using Grammars = std::map<std::string, std::string>;  // by name of the task

Grammars grammars_of(const std::vector<TrainingTask>& tasks) {
  Grammars made;
  double all_ms = 0.0, longest_ms = 0.0;
  std::size_t bytes = 0;
  for (const TrainingTask& task : tasks) {
    const auto begin = Clock::now();
    made[task.task.name] = directive_grammar(task.task.graph, {.may_be_empty = false, .with_analysis = true});
    const double ms = ms_since(begin);
    all_ms += ms;
    longest_ms = std::max(longest_ms, ms);
    bytes += made[task.task.name].size();
  }
  fmt::print("{} grammars of {} bytes on average: made in {:.1f} ms each, {:.1f} ms at most\n", tasks.size(),
             bytes / tasks.size(), all_ms / static_cast<double>(tasks.size()), longest_ms);
  return made;
}

std::vector<HeldAnswer> taught_answers(const std::vector<TrainingTask>& tasks, const Grammars& grammars,
                                       const ChatModel& model, const Options& options) {
  const vgpu::GpuProfile gpu = vgpu::find_profile("h200");
  Random random(options.seed);
  std::vector<TaskVariants> variants;
  for (const TrainingTask& task : tasks) {
    variants.push_back({&task, {}});
    const auto count = static_cast<std::size_t>(options.samples);
    for (ProgramVariant& variant : program_variants(task.task.graph, gpu, {.count = count}, random))
      variants.back().variants.push_back({std::move(variant), 0.5 + 2.0 * random.uniform()});
  }
  SupervisedDataOptions data{static_cast<std::size_t>(options.tasks * options.samples), 0.0, {.gpu = gpu}};
  data.prompt.count_tokens = [&](std::string_view text) { return model.count_tokens(text); };
  std::vector<HeldAnswer> answers;
  for (const TrainingExample& example : supervised_data(variants, data, random).examples) {
    answers.push_back({&grammars.at(example.task), {}});
    for (const std::int32_t id : model.answer_tokens(example.completion))
      answers.back().tokens.push_back({id, 0.0F, 0.0F, false});
  }
  return answers;
}

//! Each token is drawn evenly among those that may come: worse than any model.
std::vector<HeldAnswer> random_answers(const Grammars& grammars, AnswerGrammars& known, const Options& options) {
  std::vector<HeldAnswer> answers;
  Random random(options.seed);
  for (const auto& [task, grammar] : grammars)
    for (std::int64_t sample = 0; sample < options.samples; ++sample) {
      const auto held = known.of(grammar);
      HeldAnswer& answer = answers.emplace_back(HeldAnswer{&grammar, {}});
      for (auto place = held->start(); std::ssize(answer.tokens) < options.tokens;) {
        const auto mask = held->allowed(place);
        auto left = random.below(static_cast<std::uint64_t>(mask->allowed_count));
        std::int32_t id = 0;
        while (!mask->allows(id) || left-- > 0) ++id;
        answer.tokens.push_back({id, 0.0F, 0.0F, false});
        if (!held->advance(place, id) || mask->may_end) break;
      }
    }
  return answers;
}

//! All slots at once, as the sampler writes them.
void follow_together(AnswerGrammars& grammars, const std::vector<HeldAnswer>& answers, std::size_t vocabulary,
                     const char* what) {
  std::vector<std::unique_ptr<TokenConstraint>> constraints;
  const auto begin = Clock::now();
  for (const HeldAnswer& answer : answers) constraints.push_back(grammars.constraint(*answer.grammar)());
  const double made_ms = ms_since(begin);
  AllowedTokens allowed(static_cast<std::int64_t>(vocabulary));
  double all_ms = 0.0, longest_ms = 0.0;
  std::size_t steps = 0;
  for (bool goes_on = true; goes_on; ++steps) {
    goes_on = false;
    const auto step = Clock::now();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (steps >= answers[i].tokens.size()) continue;
      goes_on = true;
      allowed.clear();
      constraints[i]->allow(allowed);
      if (allowed.count() == 0) throw Error("a dead end");
      constraints[i]->accept(answers[i].tokens[steps].id);
    }
    all_ms += ms_since(step);
    longest_ms = std::max(longest_ms, ms_since(step));
  }
  fmt::print("  sampler, {}: {:.1f} ms for grammars, {:.1f} ms for {} steps, {:.3f} ms a step, {:.1f} ms at most\n", what,
             made_ms, all_ms, steps, all_ms / static_cast<double>(steps), longest_ms);
}

void replay(AnswerGrammars& grammars, const std::vector<HeldAnswer>& answers, const char* what) {
  auto begin = Clock::now();
  std::vector<TrainingText> texts;
  std::size_t tokens = 0, forced = 0;
  for (const HeldAnswer& answer : answers) {
    TrainingText& text = texts.emplace_back();
    text.allowed = grammars.of(*answer.grammar)->allowed_along(answer.tokens);
    for (const DrawnToken& token : answer.tokens) {
      const bool is_forced = text.allowed[text.tokens.size()]->forced.has_value();
      text.tokens.push_back(token.id);
      text.weights.push_back(is_forced ? 0.0F : 1.0F);
      forced += is_forced ? 1 : 0;
    }
    tokens += answer.tokens.size();
  }
  const double replayed_ms = ms_since(begin);
  begin = Clock::now();
  const TrainingBatch batch = pack_training_texts(texts);
  fmt::print("  trainer, {}: {:.1f} ms for {} tokens ({} forced), {:.1f} ms to pack them with {} masks\n", what,
             replayed_ms, tokens, forced, ms_since(begin), batch.allowed.masks.size(0));
}

void measure(const ChatModel& model, const std::vector<HeldAnswer>& answers, const char* what) {
  const auto size = static_cast<std::size_t>(model.weights().config().vocabulary);
  const auto begin = Clock::now();
  const auto vocabulary = vocabulary_of(model.tokenizer(), size, model.end_tokens());
  AnswerGrammars sampling(vocabulary), training(vocabulary);
  fmt::print("{} {} answers; vocabulary of {} tokens in {:.1f} ms\n", answers.size(), what, size, ms_since(begin));
  follow_together(sampling, answers, size, "first time");
  follow_together(sampling, answers, size, "again");
  replay(training, answers, "first time (another process)");
  replay(sampling, answers, "after the sampler");
}

void run(const Options& options) {
  const ChatModel model(options.model);
  TaskSettings settings;
  settings.train = options.tasks;
  settings.seed = options.seed;
  const auto tasks = make_tasks(TaskSplit::train, settings, vgpu::find_profile("h200"));
  const Grammars grammars = grammars_of(tasks);
  measure(model, taught_answers(tasks, grammars, model, options), "taught");
  AnswerGrammars known(vocabulary_of(model.tokenizer(), static_cast<std::size_t>(model.weights().config().vocabulary),
                                     model.end_tokens()));
  measure(model, random_answers(grammars, known, options), "random");
}

}  // namespace
}  // namespace cudal1

int main(int argc, char** argv) {
  cudal1::Options options;
  CLI::App app("What grammars cost a step of training");
  app.add_option("model", options.model, "A GGUF file, for its tokens")->required();
  app.add_option("--tasks", options.tasks, "Generated ones, of a step");
  app.add_option("--samples", options.samples, "Answers to each");
  app.add_option("--tokens", options.tokens, "Of a random answer, at most");
  app.add_option("--seed", options.seed, "Of tasks and answers");
  CLI11_PARSE(app, argc, argv);
  try {
    cudal1::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "training_masks_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
