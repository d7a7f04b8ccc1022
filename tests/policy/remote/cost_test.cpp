#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "policy/remote/cost_meter.hpp"
#include "policy/remote/usage_shares.hpp"

namespace cudal1 {
namespace {

const auto never = [] { return false; };

TEST(Cost, IsPerMillionTokens) {
  EXPECT_DOUBLE_EQ(cost_of({2'000'000, 500'000, 400'000, false}, {3.0, 10.0}),
                   11.0);  // reasoning is part of the 500,000
}

TEST(Cost, NoTokenizerCanExceedThePromptBound) {
  const std::vector<ChatMessage> messages = {{ChatMessage::Role::user, std::string(100, '%')}};
  EXPECT_GE(most_prompt_tokens(messages), 104);
  EXPECT_LT(estimate_prompt_tokens(messages), most_prompt_tokens(messages));
}

TEST(CostMeter, RefusesWhatCouldPassTheCeiling) {
  CostMeter meter(1.0);
  {
    CostMeter::Reservation first(meter, 0.75, never);
    ASSERT_TRUE(first.granted());
    first.settle(0.5);
  }
  EXPECT_DOUBLE_EQ(meter.spent(), 0.5);
  EXPECT_TRUE(CostMeter::Reservation(meter, 0.5, never).granted());
  EXPECT_FALSE(CostMeter::Reservation(meter, 0.5001, never).granted());
}

TEST(CostMeter, WaitsForOthersThatMayCostLessThanTheyReserved) {
  CostMeter meter(1.0);
  std::atomic<bool> second_granted = false;
  std::thread second;
  {
    CostMeter::Reservation first(meter, 0.9, never);
    second = std::thread([&] { second_granted = CostMeter::Reservation(meter, 0.9, never).granted(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(second_granted);
    first.settle(0.1);
  }
  second.join();
  EXPECT_TRUE(second_granted);
}

TEST(CostMeter, WithoutACeilingNothingIsRefused) {
  CostMeter meter(std::nullopt);
  EXPECT_TRUE(CostMeter::Reservation(meter, 1e9, never).granted());
}

ServerAnswer answer_of(const std::vector<AnswerChoice>& choices) {
  ServerAnswer answer;
  answer.choices = choices;
  for (const auto& choice : choices) answer.bytes_of_text += choice.text.size() + choice.reasoning_bytes;
  return answer;
}

TEST(UsageShares, AddUpToWhatTheServerCounted) {
  ServerAnswer answer = answer_of({{std::string(100, 'a')}, {std::string(33, 'b')}, {""}});
  answer.usage = TokenUsage{50, 41, 10, false};
  const auto samples = samples_of(std::move(answer), {{ChatMessage::Role::user, "x"}}, {1e6, 1e6});
  TokenUsage sum;
  double cost = 0.0;
  for (const auto& sample : samples) {
    sum += sample.tokens;
    cost += sample.cost;
  }
  EXPECT_EQ(sum, (TokenUsage{50, 41, 10, false}));
  EXPECT_DOUBLE_EQ(cost, 91.0);
  EXPECT_GT(samples[0].tokens.completion, samples[1].tokens.completion);
}

TEST(UsageShares, WithoutUsageAnEstimateSaysThatItIsOne) {
  const auto samples =
      samples_of(answer_of({{std::string(300, 'a')}}), {{ChatMessage::Role::user, std::string(600, 'x')}}, {});
  EXPECT_TRUE(samples[0].tokens.estimated);
  EXPECT_EQ(samples[0].tokens.completion, 100);
  EXPECT_GE(samples[0].tokens.prompt, 200);
}

TEST(UsageShares, ShownReasoningIsCountedApart) {
  ServerAnswer answer = answer_of({{std::string(100, 'a'), 300}});
  answer.usage = TokenUsage{10, 100, 0, false};
  const auto samples = samples_of(std::move(answer), {{ChatMessage::Role::user, "x"}}, {});
  EXPECT_EQ(samples[0].tokens.reasoning, 75);
  EXPECT_EQ(samples[0].tokens.completion, 100);
}

}  // namespace
}  // namespace cudal1
