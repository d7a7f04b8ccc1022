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
    const PromptToAnswer asked{
        .prompt = "say", .samples = 8, .seed = 5, .answer_tokens = 60, .grammar = small_grammar};
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
      EXPECT_NEAR(token.policy_log_probability, token.sampled_log_probability, 1e-5) << "temperature 1, nothing cut off";
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
  for (const SampledAnswer& answer : others[0])
    answers.push_back({"one", answer.tokens, 0.5});
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
