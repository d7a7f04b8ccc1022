// A small random model with an adapter: learns what it is shown, learns from its own answers, and goes on where it was.
#include "train/rollout/adapter_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/files.hpp"
#include "base/result.hpp"
#include "writing_model.hpp"

namespace cudal1 {
namespace {

class AdapterModelTest : public ::testing::Test {
 protected:
  AdapterModelTest() { write_file_atomically(file(), testing::writing_model(256).bytes()); }
  std::filesystem::path file() const { return folder.path() / "writing.gguf"; }
  AdapterModelOptions options() const {
    AdapterModelOptions made;
    made.model = file();
    made.rank = 16;
    made.alpha = 32.0;
    made.seed = 3;
    made.context_tokens = 256;
    made.tokens_at_once = 64;
    made.slots = 4;
    return made;
  }
  static std::vector<PromptAndAnswer> pairs() { return {{"one", "fuse a"}, {"two", "graph"}, {"three", "fuse b c"}}; }

  TemporaryFolder folder;
};

//! Of a GPU on which somebody always waits to measure.
struct SharedGpu {
  int taken = 0, passed = 0;
  bool is_taken = false;

  ModelTurns turns() {
    return {[this] {
              EXPECT_FALSE(is_taken) << "it would wait for itself";
              is_taken = true;
              ++taken;
              return std::shared_ptr<void>(this, [](SharedGpu* gpu) { gpu->is_taken = false; });
            },
            [this] { return is_taken; }, [this] { ++passed; }};
  }
};

void expect_same(const SampledAnswer& found, const SampledAnswer& expected) {
  EXPECT_EQ(found.text, expected.text);
  ASSERT_EQ(found.tokens.size(), expected.tokens.size());
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    EXPECT_EQ(found.tokens[i].id, expected.tokens[i].id);
    EXPECT_EQ(found.tokens[i].sampled_log_probability, expected.tokens[i].sampled_log_probability);
    EXPECT_EQ(found.tokens[i].policy_log_probability, expected.tokens[i].policy_log_probability);
  }
}

TEST_F(AdapterModelTest, LearnsWhatItIsShown) {
  AdapterModel model(options());
  const double before = model.loss_of(pairs());
  SupervisedUpdate update;
  for (int i = 0; i < 200; ++i) update = model.learn(pairs(), 1e-2);
  EXPECT_GT(before, 3.0);
  EXPECT_LT(model.loss_of(pairs()), 0.3) << "its norms and embeddings are frozen: it cannot be quite sure of anything";
  EXPECT_EQ(update.answer_tokens, 6 + 6 + 8) << "letters, of which 'us' is one token, and the end of the turn";
  const PromptToAnswer asked{.prompt = "two", .samples = 16, .seed = 1, .answer_tokens = 20};
  int said = 0;
  const auto answers = model.answers(std::span(&asked, 1));
  for (const SampledAnswer& answer : answers[0])
    if (answer.text == "graph" && answer.finish == FinishReason::stop) ++said;
  EXPECT_GE(said, 3) << "the decoder writes with what was learned";
}

TEST_F(AdapterModelTest, TheLossIsTheSameInPartsAndAtOnce) {
  AdapterModelOptions whole = options();
  whole.tokens_at_once = 100000;
  AdapterModel in_parts(options()), at_once(whole);
  EXPECT_NEAR(in_parts.loss_of(pairs()), at_once.loss_of(pairs()), 1e-5);
  EXPECT_NEAR(in_parts.learn(pairs(), 1e-2).gradient_length, at_once.learn(pairs(), 1e-2).gradient_length, 1e-4);
  EXPECT_NEAR(in_parts.loss_of(pairs()), at_once.loss_of(pairs()), 1e-4);
}

TEST_F(AdapterModelTest, AnswersWithAnAdvantageBecomeMoreProbable) {
  AdapterModel model(options());
  model.keep_as_reference();
  const PromptToAnswer asked{.prompt = "say", .samples = 8, .seed = 5, .answer_tokens = 6};
  const std::vector<SampledAnswer> answers = model.answers(std::span(&asked, 1))[0];
  std::vector<WeighedAnswer> weighed;
  for (std::size_t i = 0; i < answers.size(); ++i)
    weighed.push_back({"say", answers[i].tokens, i == 2 ? 2.0 : -2.0 / 7.0});
  const PolicyUpdate first = model.improve(weighed, {}, 1, 1e-2);
  EXPECT_NEAR(first.kl, 0.0, 1e-5) << "it is the reference still";
  EXPECT_NEAR(first.largest_ratio, 1.0, 1e-3) << "and the one that sampled";
  EXPECT_TRUE(first.why_skipped.empty());
  PolicyUpdate later;
  for (int i = 0; i < 8; ++i) later = model.improve(weighed, {}, 1, 1e-2);
  EXPECT_GT(later.kl, 1e-3);
  const auto log_probability = [&](AdapterModel& of, std::size_t i) {
    return -of.loss_of(std::vector<PromptAndAnswer>{{"say", answers[i].text}});
  };
  AdapterModel fresh(options());
  EXPECT_GT(log_probability(model, 2), log_probability(fresh, 2) + 0.1);
  EXPECT_LT(log_probability(model, 3), log_probability(fresh, 3));
}

//! Four, each token of which was so many times less probable when it was drawn.
std::vector<WeighedAnswer> answers_less_probable_by(float times, AdapterModel& model, double advantage) {
  const PromptToAnswer asked{.prompt = "say", .samples = 4, .seed = 5, .answer_tokens = 6};
  const auto written = model.answers(std::span(&asked, 1));
  std::vector<WeighedAnswer> answers;
  for (const SampledAnswer& answer : written[0]) {
    WeighedAnswer& weighed = answers.emplace_back(WeighedAnswer{"say", answer.tokens, advantage});
    for (DrawnToken& token : weighed.tokens) token.policy_log_probability -= std::log(times);
  }
  return answers;
}

TEST_F(AdapterModelTest, AnswersOfAnEarlierPolicyAreWeighedAgainstThatOne) {
  AdapterModel model(options());
  model.keep_as_reference();
  std::vector<WeighedAnswer> answers = answers_less_probable_by(1.5F, model, 1.0);
  EXPECT_NEAR(model.improve(answers, {}, 1, 0.0).largest_ratio, 1.0, 1e-3) << "the trainer's own old policy";
  for (WeighedAnswer& answer : answers) answer.by_earlier_policy = true;
  const PolicyUpdate update = model.improve(answers, {}, 1, 0.0);
  EXPECT_NEAR(update.largest_ratio, 1.5, 1e-2);
  EXPECT_EQ(update.clipped_share, 1.0) << "all have become more probable than what counts in full";
}

TEST_F(AdapterModelTest, WhatAnEarlierPolicyHardlyEverWroteIsNotTheWholeUpdate) {
  AdapterModel model(options());
  model.keep_as_reference();
  std::vector<WeighedAnswer> answers = answers_less_probable_by(100.0F, model, -1.0);
  for (WeighedAnswer& answer : answers) answer.by_earlier_policy = true;
  const PolicyUpdate update = model.improve(answers, {}, 1, 0.0);
  EXPECT_NEAR(update.largest_ratio, 100.0, 0.5);
  EXPECT_NEAR(update.policy_loss, largest_earlier_ratio, 1e-5) << "of each token, not a hundred";
  EXPECT_NEAR(update.gradient_length, 0.0, 1e-6);
}

TEST_F(AdapterModelTest, LetsOthersMeasureBetweenPiecesOfItsWorkAndComputesTheSame) {
  SharedGpu gpu;
  AdapterModelOptions shared = options();
  shared.turns = gpu.turns();
  AdapterModel alone(options()), model(shared);
  const PromptToAnswer asked{.prompt = "say", .samples = 6, .seed = 5, .answer_tokens = 12};
  const auto passed_by = [&](const auto& work) {
    const int before = gpu.passed;
    work();
    EXPECT_FALSE(gpu.is_taken);
    return gpu.passed - before;
  };
  alone.keep_as_reference();
  model.keep_as_reference();
  std::vector<WeighedAnswer> answers;
  const auto written = alone.answers(std::span(&asked, 1));
  for (const SampledAnswer& answer : written[0])
    answers.push_back({"say", answer.tokens, answers.size() % 2 == 0 ? 1.0 : -1.0});
  EXPECT_GE(passed_by([&] {
              const auto same = model.answers(std::span(&asked, 1));
              ASSERT_EQ(same[0].size(), written[0].size());
              for (std::size_t i = 0; i < answers.size(); ++i) expect_same(same[0][i], written[0][i]);
            }),
            6)
      << "between the steps of decoding";
  EXPECT_GE(
      passed_by([&] { EXPECT_EQ(model.improve(answers, {}, 1, 1e-2).loss, alone.improve(answers, {}, 1, 1e-2).loss); }),
      4)
      << "between batches, of which there are two at least, twice";
  EXPECT_GE(passed_by([&] { EXPECT_EQ(model.learn(pairs(), 1e-2).loss, alone.learn(pairs(), 1e-2).loss); }), 1);
  EXPECT_EQ(model.loss_of(pairs()), alone.loss_of(pairs()));
}

TEST_F(AdapterModelTest, WhoeverMeasuresIsLetPassAfterEachStepOfATextThatIsLeftAlone) {
  SharedGpu gpu;
  AdapterModelOptions shared = options();
  shared.turns = gpu.turns();
  AdapterModel model(shared);
  const PromptToAnswer asked{.prompt = "say", .samples = 1, .seed = 5, .answer_tokens = 12};
  const auto written = model.answers(std::span(&asked, 1));
  EXPECT_EQ(gpu.passed, std::ssize(written[0][0].tokens)) << "of four slots, three are free";
}

TEST_F(AdapterModelTest, TakesItsTurnOnceWhereverItTouchesTheGpu) {
  SharedGpu gpu;
  AdapterModelOptions shared = options();
  shared.turns = gpu.turns();
  AdapterModel model(shared);
  const std::filesystem::path adapter = folder.path() / "adapter", optimiser = folder.path() / "optimiser.safetensors";
  const auto turns_of = [&](const auto& work) {
    const int before = gpu.taken;
    work();
    EXPECT_FALSE(gpu.is_taken);
    return gpu.taken - before;
  };
  EXPECT_EQ(turns_of([&] { model.keep_as_reference(); }), 1);
  EXPECT_EQ(turns_of([&] { model.learn(pairs(), 1e-2); }), 1);
  EXPECT_EQ(turns_of([&] { model.save_adapter(adapter); }), 1);
  EXPECT_EQ(turns_of([&] { model.save_optimiser(optimiser); }), 1);
  EXPECT_EQ(turns_of([&] { model.begin_stage(); }), 1);
  EXPECT_EQ(turns_of([&] { model.load_adapter(adapter); }), 1);
  EXPECT_EQ(turns_of([&] { model.load_optimiser(optimiser); }), 1);
  EXPECT_EQ(turns_of([&] { model.keep_as_reference(); }), 1) << "over the one that there is";
}

TEST_F(AdapterModelTest, SampledLogProbabilitiesAreTheTrainers) {
  AdapterModel model(options());
  for (int i = 0; i < 5; ++i) model.learn(pairs(), 1e-2);
  const PromptToAnswer asked{.prompt = "one", .samples = 3, .seed = 9, .answer_tokens = 12};
  const auto answers = model.answers(std::span(&asked, 1));
  for (const SampledAnswer& answer : answers[0]) {
    if (answer.finish != FinishReason::stop || answer.text.empty()) continue;
    double sampled = 0.0;
    for (const DrawnToken& token : answer.tokens) sampled += token.policy_log_probability;
    const std::vector<PromptAndAnswer> same{{"one", answer.text}};
    EXPECT_NEAR(-model.loss_of(same) * static_cast<double>(answer.tokens.size()), sampled, 2e-3);
  }
}

//! Free text on a line, then a choice or two; the second word is forced to its end.
constexpr const char* small_grammar = R"(root ::= "say " [a-p ]+ "\n" ("fuse" (" " [a-e])+ | "graph" [1-9]) "\n"?)";

class HeldAdapterModelTest : public AdapterModelTest {
 protected:
  //! Of a model that has learned something, so that its policy and its reference differ.
  std::vector<WeighedAnswer> answers_of(AdapterModel& model) const {
    for (int i = 0; i < 3; ++i) model.learn(pairs(), 1e-2);
    const PromptToAnswer asked{.prompt = "say", .samples = 8, .seed = 5, .answer_tokens = 60, .grammar = small_grammar};
    std::vector<WeighedAnswer> weighed;
    const auto answers = model.answers(std::span(&asked, 1));
    for (const SampledAnswer& answer : answers[0])
      weighed.push_back({"say", answer.tokens, weighed.size() % 2 == 0 ? 1.0 : -1.0, small_grammar});
    return weighed;
  }
};

TEST_F(HeldAdapterModelTest, AnswersAreOfTheirGrammarAndForcedTokensAreMarked) {
  AdapterModel model(options());
  int forced = 0, free = 0;
  for (const WeighedAnswer& answer : answers_of(model))
    for (const DrawnToken& token : answer.tokens) {
      ++(token.forced ? forced : free);
      EXPECT_EQ(token.policy_log_probability == 0.0F, token.forced);
      EXPECT_NEAR(token.policy_log_probability, token.sampled_log_probability, 1e-5) << "nothing was cut off";
    }
  EXPECT_GE(forced, 8 * 4);
  EXPECT_GT(free, 8 * 2);
}

TEST_F(HeldAdapterModelTest, SampledLogProbabilitiesAreTheTrainersUnderTheGrammar) {
  AdapterModel model(options());
  model.keep_as_reference();
  std::vector<WeighedAnswer> answers = answers_of(model);
  EXPECT_LT(model.improve(answers, {}, 1, 0.0).sampler_gap, 1e-4);
  for (WeighedAnswer& answer : answers) answer.grammar.clear();
  EXPECT_GT(model.improve(answers, {}, 1, 0.0).sampler_gap, 0.5) << "without the mask it is another policy";
}

TEST_F(HeldAdapterModelTest, TheReferenceIsHeldToTheGrammarAsWell) {
  AdapterModel model(options());
  model.keep_as_reference();
  const std::vector<WeighedAnswer> answers = answers_of(model);  // it has learned since
  EXPECT_GT(model.improve(answers, {}, 1, 0.0).kl, 1e-4);
  model.keep_as_reference();
  EXPECT_NEAR(model.improve(answers, {}, 1, 0.0).kl, 0.0, 1e-6);
}

TEST_F(HeldAdapterModelTest, AnswersOfMixedGrammarsAreLearnedTogether) {
  AdapterModel model(options());
  model.keep_as_reference();
  std::vector<WeighedAnswer> answers = answers_of(model);
  const PromptToAnswer free{.prompt = "one", .samples = 3, .seed = 9, .answer_tokens = 12};
  const auto others = model.answers(std::span(&free, 1));
  for (const SampledAnswer& answer : others[0]) answers.push_back({"one", answer.tokens, 0.5});
  const PolicyUpdate update = model.improve(answers, {}, 1, 1e-2);
  EXPECT_LT(update.sampler_gap, 1e-4);
  EXPECT_NEAR(update.largest_ratio, 1.0, 1e-3);
  EXPECT_TRUE(update.why_skipped.empty()) << update.why_skipped;
}

TEST_F(HeldAdapterModelTest, AnAnswerThatIsNotOfItsGrammarIsRefused) {
  AdapterModel model(options());
  model.keep_as_reference();
  std::vector<WeighedAnswer> answers = answers_of(model);
  std::swap(answers[0].tokens.front(), answers[0].tokens.back());
  EXPECT_THROW(model.improve(answers, {}, 1, 1e-2), Error);
}

TEST_F(AdapterModelTest, SavedAndLoadedItGoesOnAsIfNothingHadHappened) {
  AdapterModel alone(options()), first(options());
  for (int i = 0; i < 10; ++i) alone.learn(pairs(), 1e-2);
  for (int i = 0; i < 4; ++i) first.learn(pairs(), 1e-2);
  first.save_adapter(folder.path() / "adapter");
  first.save_optimiser(folder.path() / "optimiser.safetensors");
  AdapterModel second(options());
  second.load_adapter(folder.path() / "adapter");
  second.load_optimiser(folder.path() / "optimiser.safetensors");
  for (int i = 4; i < 10; ++i) second.learn(pairs(), 1e-2);
  EXPECT_NEAR(second.loss_of(pairs()), alone.loss_of(pairs()), 1e-6);
  AdapterModelOptions from_file = options();
  from_file.adapter = folder.path() / "adapter";
  EXPECT_NEAR(AdapterModel(from_file).loss_of(pairs()), first.loss_of(pairs()), 1e-6);
}

TEST_F(AdapterModelTest, ALossThatIsNotFiniteChangesNothingAndIsNamed) {
  AdapterModel model(options());
  model.keep_as_reference();
  const double before = model.loss_of(pairs());
  const WeighedAnswer bad{"say", {{100, 0, 0, false}, {101, 0, 0, false}}, std::nan("")};
  const PolicyUpdate update = model.improve(std::span(&bad, 1), {}, 1, 1e-2);
  EXPECT_NE(update.why_skipped.find("nan"), std::string::npos) << update.why_skipped;
  EXPECT_EQ(model.loss_of(pairs()), before);
}

TEST_F(AdapterModelTest, AnAdapterOfAnotherRankOrAlphaThanTheRunsIsRefusedByName) {
  AdapterModel(options()).save_adapter(folder.path() / "adapter");
  const auto complaint = [&](std::int64_t further_rank, double further_alpha) -> std::string {
    AdapterModelOptions other = options();
    other.adapter = folder.path() / "adapter";
    other.rank += further_rank;
    other.alpha += further_alpha;
    try {
      const AdapterModel model(other);
    } catch (const Error& problem) {
      return problem.what();
    }
    return "";
  };
  EXPECT_EQ(complaint(0, 0.0), "");
  EXPECT_EQ(complaint(1, 0.0).rfind("model.rank is ", 0), 0u) << complaint(1, 0.0);
  EXPECT_EQ(complaint(0, 1.0).rfind("model.alpha is ", 0), 0u) << complaint(0, 1.0);
}

TEST_F(AdapterModelTest, AnAdapterOfAnotherModelIsRefused) {
  AdapterModel model(options());
  model.save_adapter(folder.path() / "adapter");
  AdapterModelOptions other = options();
  other.model = folder.path() / "other.gguf";
  write_file_atomically(other.model, testing::writing_model(512).bytes());
  EXPECT_THROW(AdapterModel(other).load_adapter(folder.path() / "adapter"), Error);
}

}  // namespace
}  // namespace cudal1
