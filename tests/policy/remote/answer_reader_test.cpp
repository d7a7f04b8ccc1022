#include "policy/remote/answer_reader.hpp"

#include "client_fixture.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

struct Read {
  ServerAnswer answer;
  std::vector<std::string> streamed;  //!< by choice
};

Read read(const std::string& body, int expected = 1, std::size_t piece_bytes = 1 << 20, bool whole = true) {
  Read result;
  result.streamed.resize(static_cast<std::size_t>(expected));
  const ApiKey no_key;
  AnswerReader reader(expected, no_key, [&](int choice, std::string_view text) {
    result.streamed[static_cast<std::size_t>(choice)] += text;
  });
  for (std::size_t at = 0; at < body.size(); at += piece_bytes)
    if (!reader.add(body.substr(at, piece_bytes))) break;
  result.answer = reader.finish(whole);
  return result;
}

std::string choice_with(const json& delta) { return event({{"choices", {{{"index", 0}, {"delta", delta}}}}}); }

TEST(AnswerReader, AStreamCutIntoPiecesOfAnySizeGivesTheSameText) {
  const std::string stream = ": ping\r\n\r\n" + choice_with({{"role", "assistant"}, {"content", nullptr}}) +
                             delta_event("Grü") + delta_event("ße 🙂") + finish_event("length") + usage_event(3, 4) +
                             "data: [DONE]\n\n";
  for (std::size_t bytes = 1; bytes <= stream.size(); ++bytes) {
    const Read result = read(stream, 1, bytes);
    ASSERT_EQ(result.answer.problem, AnswerProblem::none) << bytes;
    ASSERT_EQ(result.answer.choices.at(0).text, "Grüße 🙂") << bytes;
    ASSERT_EQ(result.streamed[0], "Grüße 🙂");
    ASSERT_EQ(result.answer.choices[0].finish, FinishReason::length);
    ASSERT_EQ(result.answer.usage, (TokenUsage{3, 4, 0, false}));
  }
}

TEST(AnswerReader, AStreamThatEndsAnywhereIsEitherWholeOrCut) {
  const std::string text_events = delta_event("int ") + delta_event("main") + finish_event("stop");
  const std::string stream = text_events + usage_event(3, 4) + "data: [DONE]\n\n";
  for (std::size_t bytes = 0; bytes <= stream.size(); ++bytes) {
    const ServerAnswer answer = read(stream.substr(0, bytes)).answer;
    if (answer.problem == AnswerProblem::none) {
      EXPECT_EQ(answer.choices.at(0).text, "int main");
      EXPECT_GE(bytes + 1, text_events.size());
    } else {
      EXPECT_EQ(answer.problem, AnswerProblem::cut) << bytes;
      EXPECT_LT(bytes, text_events.size());
    }
  }
}

TEST(AnswerReader, SeveralChoicesMayBeInterleaved) {
  const std::string stream = delta_event("b0", 1) + delta_event("a0", 0) + delta_event("b1", 1) +
                             finish_event("stop", 1) + delta_event("a1", 0) + finish_event("length", 0) +
                             "data: [DONE]\n\n";
  const ServerAnswer answer = read(stream, 2).answer;
  ASSERT_EQ(answer.choices.size(), 2u);
  EXPECT_EQ(answer.choices[0].text, "a0a1");
  EXPECT_EQ(answer.choices[1].text, "b0b1");
  EXPECT_EQ(answer.choices[1].finish, FinishReason::stop);
}

TEST(AnswerReader, ChoicesThatNobodyAskedForOrThatNeverBeganAreNotTaken) {
  const std::string stream =
      delta_event("x", -1) + delta_event("y", 1'000'000'000) + delta_event("c", 2) + "data: [DONE]\n\n";
  const ServerAnswer answer = read(stream, 3).answer;
  ASSERT_EQ(answer.choices.size(), 1u);
  EXPECT_EQ(answer.choices[0].text, "c");
}

TEST(AnswerReader, UsageOfEachChoiceIsAddedUpAndRunningTotalsAreNot) {
  const std::string per_choice =
      delta_event("a", 0) + delta_event("b", 1) + usage_event(31, 4) + usage_event(31, 5) + "data: [DONE]\n\n";
  EXPECT_EQ(read(per_choice, 2).answer.usage, (TokenUsage{31, 9, 0, false}));
  const auto running = [](int completion) {
    return event({{"choices", {{{"index", 0}, {"delta", {{"content", "a"}}}}}},
                  {"usage", {{"prompt_tokens", 31}, {"completion_tokens", completion}}}});
  };
  EXPECT_EQ(read(running(1) + running(2) + "data: [DONE]\n\n").answer.usage, (TokenUsage{31, 2, 0, false}));
}

TEST(AnswerReader, NonsenseInUsageIsNotBelieved) {
  const auto usage = [](const json& prompt, const json& completion) {
    const std::string body = delta_event("a") +
                             event({{"usage", {{"prompt_tokens", prompt}, {"completion_tokens", completion}}}}) +
                             "data: [DONE]\n\n";
    return read(body).answer.usage;
  };
  EXPECT_EQ(usage("3", 4), std::nullopt);
  EXPECT_EQ(usage(-3, 1e300), (TokenUsage{0, 0, 0, false}));
}

TEST(AnswerReader, ReasoningIsMeasuredAndNeverPartOfTheAnswer) {
  for (const json& reasoning :
       {json{{"reasoning_content", "hmm"}}, json{{"reasoning", "hmm"}},
        json{{"reasoning", "hmm"}, {"reasoning_content", "hmm"}}, json{{"content", "<think>hmm</think>"}},
        json{{"content", {{{"type", "thinking"}, {"text", "hmm"}}}}}}) {
    const Read result = read(choice_with(reasoning) + delta_event("code") + finish_event("stop") + "data: [DONE]\n\n");
    ASSERT_EQ(result.answer.choices.size(), 1u) << reasoning;
    EXPECT_EQ(result.answer.choices[0].text, "code") << reasoning;
    EXPECT_EQ(result.streamed[0], "code") << reasoning;
    EXPECT_EQ(result.answer.choices[0].reasoning_bytes, 3u) << reasoning;
  }
}

TEST(AnswerReader, HiddenReasoningIsTakenFromTheUsage) {
  const json body = {
      {"choices", {{{"message", {{"content", "code"}}}, {"finish_reason", "stop"}}}},
      {"usage",
       {{"prompt_tokens", 5}, {"completion_tokens", 90}, {"completion_tokens_details", {{"reasoning_tokens", 80}}}}}};
  EXPECT_EQ(read(body.dump()).answer.usage, (TokenUsage{5, 90, 80, false}));
}

TEST(AnswerReader, RefusalsAreKnownByFilterOrField) {
  EXPECT_EQ(read(finish_event("content_filter") + "data: [DONE]\n\n").answer.choices.at(0).finish,
            FinishReason::refusal);
  const json body = {
      {"choices", {{{"message", {{"content", nullptr}, {"refusal", "I will not."}}}, {"finish_reason", "stop"}}}}};
  const ServerAnswer answer = read(body.dump()).answer;
  EXPECT_EQ(answer.choices.at(0).finish, FinishReason::refusal);
  EXPECT_EQ(answer.choices[0].text, "I will not.");
}

TEST(AnswerReader, AnAnswerInOnePieceIsTakenThoughAStreamWasAskedFor) {
  const ServerAnswer answer = read("\xef\xbb\xbf\n" + whole_answer({"one", "two"}), 2, 3).answer;
  ASSERT_EQ(answer.choices.size(), 2u);
  EXPECT_EQ(answer.choices[1].text, "two");
}

TEST(AnswerReader, AWholeAnswerThatEndsAnywhereIsCut) {
  const std::string body = whole_answer({"int main() {}"});
  for (std::size_t bytes = 0; bytes < body.size(); ++bytes)
    EXPECT_EQ(read(body.substr(0, bytes)).answer.problem, AnswerProblem::cut) << bytes;
}

TEST(AnswerReader, SaysWhatIsWrongWithOtherBodies) {
  const std::vector<std::pair<std::string, AnswerProblem>> bodies = {
      {"<!doctype html><title>Sign in</title>", AnswerProblem::html},
      {"{\"choices\": [}", AnswerProblem::no_json},
      {"{\"choices\": [{\"message\": {\"content\": \"\xff\"}}]}", AnswerProblem::no_utf8},
      {"data: {\"choices\": [{\"delta\": {\"content\": \"\xc3\"}}]}\n\n", AnswerProblem::no_utf8},
      {"data: {nonsense}\n\n", AnswerProblem::no_json},
      {"Service temporarily unavailable", AnswerProblem::no_json},
      {"\x1f\x8b\x08 compressed", AnswerProblem::no_json},
      {"{}", AnswerProblem::wrong_form},
      {"[1, 2]", AnswerProblem::wrong_form},
      {"\"text\"", AnswerProblem::wrong_form},
      {"{\"choices\": {}}", AnswerProblem::wrong_form},
      {"{\"choices\": []}", AnswerProblem::wrong_form},
      {"data: [DONE]\n\n", AnswerProblem::wrong_form},
      {"{\"a\": " + std::string(100'000, '['), AnswerProblem::wrong_form},
      {"{\"error\": {\"message\": \"boom\"}}", AnswerProblem::server_error},
      {"", AnswerProblem::cut},
      {": ping\n\n", AnswerProblem::cut}};
  for (const auto& [body, problem] : bodies) {
    const ServerAnswer answer = read(body).answer;
    EXPECT_EQ(answer.problem, problem) << body.substr(0, 60) << " -> " << answer.detail;
    EXPECT_FALSE(answer.detail.empty());
  }
}

TEST(AnswerReader, MembersOfOtherTypesAreNoAnswers) {
  for (const json& delta :
       {json(5), json(nullptr), json{{"content", 5}}, json{{"content", json::object()}}, json{{"reasoning", 1}}}) {
    const ServerAnswer answer = read(choice_with(delta) + finish_event("stop") + "data: [DONE]\n\n").answer;
    EXPECT_EQ(answer.problem, AnswerProblem::none) << delta;
    EXPECT_EQ(answer.choices.at(0).text, "") << delta;
  }
}

TEST(AnswerReader, AnErrorInAStreamEndsIt) {
  const ServerAnswer answer =
      read(delta_event("int ") + event({{"error", {{"message", "out\nof memory"}, {"code", 503}}}}) + delta_event("x"))
          .answer;
  EXPECT_EQ(answer.problem, AnswerProblem::server_error);
  EXPECT_EQ(answer.detail, "out of memory");
  EXPECT_EQ(answer.error_status, 503);
}

}  // namespace
}  // namespace cudal1
