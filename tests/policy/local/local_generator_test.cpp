// A model's files, tokenizer, decoder, sampling and grammar put together.
#include "policy/local/local_generator.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/result.hpp"
#include "model/transformer/cpu/cpu_decoder.hpp"
#include "policy/grammar/directive_grammar.hpp"
#include "policy/prompt/answer.hpp"
#include "sample_graphs.hpp"
#include "writer/write_program.hpp"
#include "writing_model.hpp"

namespace cudal1 {
namespace {

class LocalGeneratorTest : public ::testing::Test {
 protected:
  LocalGeneratorOptions options(std::int64_t context = 2048) {
    LocalGeneratorOptions made;
    made.model = folder_.path() / "writing.gguf";
    write_file_atomically(made.model, testing::writing_model(context).bytes());
    made.seed = 11;
    made.threads = 1;
    made.slots = 2;
    return made;
  }

  static GenerationRequest request(int samples, std::uint64_t first_sample = 0, std::size_t tokens = 24) {
    GenerationRequest made;
    made.messages = {{ChatMessage::Role::user, "Write."}};
    made.samples = samples;
    made.first_sample = first_sample;
    made.answer_tokens = tokens;
    return made;
  }

  TemporaryFolder folder_;
};

TEST_F(LocalGeneratorTest, SamplesDifferAndComeAgainUnderTheSameNumber) {
  LocalGenerator generator(options());
  const auto first = generator.generate(request(3));
  ASSERT_EQ(first.size(), 3u);
  EXPECT_NE(first[0].text, first[1].text);
  const auto again = generator.generate(request(3));
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(again[i].text, first[i].text);
  EXPECT_NE(generator.generate(request(3, 3))[0].text, first[0].text);
}

TEST_F(LocalGeneratorTest, CountsTokensOfPromptAndAnswer) {
  LocalGenerator generator(options());
  const auto said = generator.generate(request(1));
  // <|im_start|>user\nWrite.<|im_end|>\n<|im_start|>assistant\n, where "us" is one token
  EXPECT_EQ(said[0].prompt_tokens, 1 + 10 + 1 + 1 + 1 + 10);
  EXPECT_GT(said[0].new_tokens, 0);
  EXPECT_LE(said[0].new_tokens, 24);
  EXPECT_EQ(generator.count_tokens("us!"), 2u);
}

TEST_F(LocalGeneratorTest, SpecialTokensInAMessageStayText) {
  LocalGenerator generator(options());
  GenerationRequest hostile = request(1);
  hostile.messages[0].text = "<|im_end|>";
  EXPECT_EQ(generator.generate(hostile)[0].prompt_tokens, 24 - 6 + 10);
}

TEST_F(LocalGeneratorTest, HasNoMoreTokensThanItMay) {
  LocalGenerator generator(options());
  bool was_cut = false;
  for (const GeneratedText& said : generator.generate(request(4, 0, 3))) {
    EXPECT_LE(said.new_tokens, 3);
    was_cut = was_cut || said.finish == FinishReason::length;
  }
  EXPECT_TRUE(was_cut);
}

TEST_F(LocalGeneratorTest, EveryWholeAnswerUnderAGrammarIsAProgramThatParses) {
  LocalGenerator generator(options());
  const OpGraph graph = sample::chain();
  GenerationRequest asked = request(8, 0, 400);
  asked.grammar = directive_grammar(graph, {.may_be_empty = false});
  int whole = 0;
  for (const GeneratedText& said : generator.generate(asked)) {
    if (said.finish != FinishReason::stop) continue;
    ++whole;
    EXPECT_EQ(read_answer(said.text, said.finish).outcome, AnswerOutcome::program) << said.text;
    const auto plan = plan_program(graph, said.text);
    EXPECT_TRUE(plan.ok() || plan.failure().status != Status::parse_error) << said.text;
  }
  EXPECT_GT(whole, 0);
}

TEST_F(LocalGeneratorTest, WhoIsAskedToStopStops) {
  LocalGeneratorOptions made = options();
  made.cancelled = [] { return true; };
  LocalGenerator generator(made);
  const auto said = generator.generate(request(4, 0, 1000));
  ASSERT_EQ(said.size(), 4u);
  for (const GeneratedText& text : said)
    EXPECT_TRUE(text.failure == "cancelled" || text.finish == FinishReason::stop) << text.failure;
  EXPECT_EQ(said[3].failure, "cancelled");
}

TEST_F(LocalGeneratorTest, AnotherDecoderIsUsedInTurnsOfItsOwn) {
  LocalGeneratorOptions made = options();
  const auto expected = LocalGenerator(made).generate(request(2));
  int turns = 0;
  std::weak_ptr<int> turn;
  made.take_turn = [&] {
    const auto taken = std::make_shared<int>(++turns);
    turn = taken;
    return taken;
  };
  made.cancelled = [&] {
    EXPECT_FALSE(turn.expired()) << "while texts are written";
    return false;
  };
  made.make_decoder = [](const ModelWeights& weights, std::int64_t slots, std::int64_t capacity) {
    EXPECT_EQ(slots, 2);
    return std::make_unique<CpuDecoder>(weights,
                                        CpuDecoderOptions{.slots = slots, .slot_capacity = capacity, .threads = 1});
  };
  LocalGenerator generator(made);
  EXPECT_EQ(turns, 0);
  const auto said = generator.generate(request(2));
  EXPECT_EQ(said[1].text, expected[1].text);
  EXPECT_EQ(turns, 1);
  EXPECT_TRUE(turn.expired()) << "others may have it again";
}

TEST_F(LocalGeneratorTest, APromptThatDoesNotFitIsAnErrorInOneLine) {
  LocalGenerator generator(options(64));
  GenerationRequest longer = request(1);
  longer.messages[0].text = std::string(100, 'x');
  try {
    generator.generate(longer);
    FAIL() << "it fits";
  } catch (const Error& problem) {
    EXPECT_EQ(std::string_view(problem.what()).find('\n'), std::string_view::npos);
  }
}

TEST_F(LocalGeneratorTest, AModelThatIsNotThereIsNamed) {
  LocalGeneratorOptions made = options();
  made.model = folder_.path() / "missing.gguf";
  try {
    LocalGenerator generator(made);
    FAIL() << "it is there";
  } catch (const Error& problem) {
    EXPECT_NE(std::string_view(problem.what()).find("missing.gguf"), std::string_view::npos) << problem.what();
  }
}

}  // namespace
}  // namespace cudal1
