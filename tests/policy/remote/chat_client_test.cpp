#include "policy/remote/chat_client.hpp"

#include <chrono>
#include <set>
#include <thread>

#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "chat_server.hpp"
#include "client_fixture.hpp"

namespace cudal1 {
namespace {

class ChatClientTest : public ClientFixture {
 protected:
  std::vector<ChatSampleOutcome> complete(const ChatClientOptions& made, const ChatRequest& asked) {
    ChatClient asking = client(made);
    auto outcomes = asking.complete(asked);
    totals_ = asking.totals();
    return outcomes;
  }

  static std::set<std::string> texts(const std::vector<ChatSampleOutcome>& outcomes) {
    std::set<std::string> found;
    for (const auto& outcome : outcomes)
      if (outcome.ok()) found.insert(outcome.sample->text);
    return found;
  }

  ChatServer server_;
  ChatTotals totals_;
};

TEST_F(ChatClientTest, GivesTextReasonTokensAndCost) {
  for (const bool stream : {true, false}) {
    auto made = options(server_.base());
    made.model.stream = stream;
    made.prices = {1e6, 1e6};
    made.cache_folder.clear();
    const auto outcomes = complete(made, request());
    ASSERT_TRUE(outcomes.at(0).ok()) << outcomes[0].failure->message;
    const ChatSample& sample = *outcomes[0].sample;
    EXPECT_TRUE(sample.text.starts_with("answer "));
    EXPECT_EQ(sample.finish, FinishReason::stop);
    EXPECT_EQ(sample.tokens, (TokenUsage{11, 7, 0, false}));
    EXPECT_DOUBLE_EQ(sample.cost, 18.0);
    EXPECT_EQ(sample.attempts, 1);
    EXPECT_FALSE(sample.from_cache);
    EXPECT_DOUBLE_EQ(totals_.cost, 18.0);
  }
}

TEST_F(ChatClientTest, TheKeyGoesIntoTheHeaderAndNowhereElse) {
  complete(options(server_.base()), request());
  EXPECT_EQ(server_.authorizations().at(0), std::string("Bearer ") + test_key);
  EXPECT_EQ(server_.bodies().at(0).dump().find(test_key), std::string::npos);
}

TEST_F(ChatClientTest, WithoutAKeyThereIsNoHeader) {
  ChatClient asking(options(server_.base()), ApiKey::from_environment("CUDAL1_NO_SUCH_KEY"), surroundings());
  EXPECT_TRUE(asking.complete(request()).at(0).ok());
  EXPECT_EQ(server_.authorizations().at(0), "");
}

TEST_F(ChatClientTest, AsksForSeveralSamplesInOneRequest) {
  const auto outcomes = complete(options(server_.base()), request(4));
  EXPECT_EQ(texts(outcomes).size(), 4u);
  EXPECT_EQ(server_.requests(), 1);
  EXPECT_EQ(server_.bodies().at(0).at("n"), 4);
  EXPECT_EQ(totals_.tokens, (TokenUsage{11, 28, 0, false}));
}

TEST_F(ChatClientTest, AServerThatIgnoresNIsFoundOutAndAskedSeveralTimes) {
  server_.has_n = false;
  ChatClient asking = client(options(server_.base()));
  EXPECT_EQ(texts(asking.complete(request(4))).size(), 4u);
  EXPECT_EQ(server_.requests(), 4);
  asking.complete(request(2, "another"));
  EXPECT_EQ(server_.requests(), 6);
  EXPECT_FALSE(server_.bodies().back().contains("n"));
}

TEST_F(ChatClientTest, AServerThatRefusesNIsAskedSeveralTimes) {
  server_.handler = [&](const nlohmann::json& body, httplib::Response& response) {
    if (!body.contains("n")) return server_.answer(body, response);
    response.status = 400;
    response.set_content(R"({"error": {"message": "'n' must be at most 1"}})", "application/json");
  };
  EXPECT_EQ(texts(complete(options(server_.base()), request(3))).size(), 3u);
  EXPECT_EQ(server_.requests(), 4);
}

TEST_F(ChatClientTest, WhenOtherThingsAreRefusedTheyAreNotTakenForN) {
  server_.handler = [&](const nlohmann::json& body, httplib::Response& response) {
    if (body.at("messages").at(0).at("content") == "fine") return server_.answer(body, response);
    response.status = 400;
    response.set_content(R"({"error": {"message": "This model's maximum context length is 5"}})", "application/json");
  };
  ChatClient asking = client(options(server_.base()));
  const auto outcomes = asking.complete(request(3));
  for (const auto& outcome : outcomes) {
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.failure->kind, ChatFailureKind::bad_request);
    EXPECT_NE(outcome.failure->message.find("maximum context length is 5"), std::string::npos);
    EXPECT_NE(outcome.failure->message.find("too long"), std::string::npos);
  }
  EXPECT_EQ(server_.requests(), 4);
  asking.complete(request(3, "fine"));
  EXPECT_EQ(server_.requests(), 5);
}

TEST_F(ChatClientTest, FewerChoicesThanAskedForAreCompleted) {
  server_.handler = [&](const nlohmann::json& body, httplib::Response& response) {
    nlohmann::json fewer = body;
    if (body.value("n", 1) > 2) fewer["n"] = 2;
    server_.answer(fewer, response);
  };
  EXPECT_EQ(texts(complete(options(server_.base()), request(5))).size(), 5u);
  EXPECT_EQ(server_.requests(), 3);
}

TEST_F(ChatClientTest, EverySampleHasASeedOfItsOwn) {
  server_.has_n = false;
  auto asked = request(3);
  asked.parameters.seed = 100;
  complete(options(server_.base()), asked);
  std::multiset<int> seeds;
  for (const auto& body : server_.bodies()) seeds.insert(body.at("seed").get<int>());
  EXPECT_EQ(seeds, (std::multiset<int>{100, 101, 102}));
}

TEST_F(ChatClientTest, TextArrivesInOrderBeforeTheAnswerIsWhole) {
  ChatClient asking = client(options(server_.base()));
  std::vector<std::string> streamed(3);
  const auto outcomes = asking.complete(
      request(3), [&](const TextPiece& piece) { streamed.at(static_cast<std::size_t>(piece.sample)) += piece.text; });
  for (std::size_t at = 0; at < 3; ++at) EXPECT_EQ(streamed[at], outcomes[at].sample->text);
}

TEST_F(ChatClientTest, WhatTheCallbackThrowsReachesTheCaller) {
  ChatClient asking = client(options(server_.base()));
  EXPECT_THROW(asking.complete(request(3), [](const TextPiece&) { throw Error("the display is gone"); }), Error);
  EXPECT_TRUE(asking.complete(request(3)).at(0).ok()) << "the client is still usable";
}

TEST_F(ChatClientTest, NeverSendsMoreRequestsAtOnceThanAllowed) {
  server_.handler = [&](const nlohmann::json& body, httplib::Response& response) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    server_.answer(body, response);
  };
  auto made = options(server_.base());
  made.concurrency = 3;
  made.most_samples_per_request = 1;
  ChatClient asking = client(made);
  std::vector<std::thread> callers;
  std::atomic<int> good = 0;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&, caller] {
      for (const auto& outcome : asking.complete(request(6, std::to_string(caller)))) good += outcome.ok();
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(good, 18);
  EXPECT_EQ(server_.most_at_once(), 3) << "and it uses what it may";
}

TEST_F(ChatClientTest, ManyRequestsKeepTheirOrder) {
  server_.handler = [](const nlohmann::json& body, httplib::Response& response) {
    response.set_content(whole_answer({"re: " + body.at("messages").at(0).at("content").get<std::string>()}),
                         "application/json");
  };
  std::vector<ChatRequest> requests;
  for (int at = 0; at < 20; ++at) requests.push_back(request(1, std::to_string(at)));
  ChatClient asking = client(options(server_.base()));
  const auto outcomes = asking.complete_all(requests);
  for (std::size_t at = 0; at < 20; ++at) EXPECT_EQ(outcomes[at].at(0).sample->text, "re: " + std::to_string(at));
}

TEST_F(ChatClientTest, AResumedRunSendsNothingAndPaysNothing) {
  auto made = options(server_.base());
  made.prices = {1.0, 1.0};
  const auto first = complete(made, request(3));
  ASSERT_EQ(server_.requests(), 1);
  const auto second = complete(made, request(3));
  EXPECT_EQ(server_.requests(), 1);
  EXPECT_EQ(totals_.cached, 3);
  EXPECT_EQ(totals_.cost, 0.0);
  for (std::size_t at = 0; at < 3; ++at) {
    EXPECT_EQ(second[at].sample->text, first[at].sample->text);
    EXPECT_TRUE(second[at].sample->from_cache);
  }
}

TEST_F(ChatClientTest, MoreSamplesOfARequestAskOnlyForThoseThatAreMissing) {
  complete(options(server_.base()), request(2));
  const auto outcomes = complete(options(server_.base()), request(5));
  EXPECT_EQ(server_.requests(), 2);
  EXPECT_EQ(server_.bodies().back().at("n"), 3);
  EXPECT_TRUE(outcomes[1].sample->from_cache);
  EXPECT_FALSE(outcomes[2].sample->from_cache);
}

TEST_F(ChatClientTest, ACorruptCacheEntryIsAskedForAgain) {
  complete(options(server_.base()), request());
  const auto files = files_below(folder_.path());
  ASSERT_EQ(files.size(), 1u);
  write_file_atomically(files[0], "cudal1 answer 1\nrubbish");
  EXPECT_TRUE(complete(options(server_.base()), request()).at(0).ok());
  EXPECT_EQ(server_.requests(), 2);
}

TEST_F(ChatClientTest, FailuresAreNotCached) {
  server_.handler = [&](const nlohmann::json& body, httplib::Response& response) {
    server_.requests() == 1 ? void(response.status = 404) : server_.answer(body, response);
  };
  EXPECT_FALSE(complete(options(server_.base()), request()).at(0).ok());
  EXPECT_TRUE(complete(options(server_.base()), request()).at(0).ok());
}

TEST_F(ChatClientTest, ARequestThatCouldPassTheCeilingIsNotSent) {
  auto made = options(server_.base());
  made.prices = {0.0, 1e6};  // a token of an answer costs 1; 100 at most, 7 in truth
  made.max_cost = 110.0;
  made.most_samples_per_request = 1;
  const auto outcomes = complete(made, request(5));
  int refused = 0;
  for (const auto& outcome : outcomes)
    if (!outcome.ok()) {
      EXPECT_EQ(outcome.failure->kind, ChatFailureKind::ceiling);
      EXPECT_EQ(outcome.failure->message.find('\n'), std::string::npos);
      EXPECT_NE(outcome.failure->message.find("--max-cost"), std::string::npos);
      ++refused;
    }
  EXPECT_EQ(server_.requests(), 2) << "spent 0, 7, then 14 of 110: the third could reach 114";
  EXPECT_EQ(refused, 3);
  EXPECT_DOUBLE_EQ(totals_.cost, 14.0);
}

TEST_F(ChatClientTest, CachedAnswersAreGivenWhateverTheCeiling) {
  auto made = options(server_.base());
  complete(made, request(2));
  made.prices = {1e6, 1e6};
  made.max_cost = 0.0;
  EXPECT_EQ(texts(complete(made, request(2))).size(), 2u);
}

TEST_F(ChatClientTest, SaysBeforehandWhatItMayCost) {
  auto made = options(server_.base());
  made.prices = {1e6, 2e6};
  complete(options(server_.base()), request(2));
  ChatClient asking = client(made);
  const CostEstimate estimate = asking.estimate({request(5)});
  EXPECT_EQ(estimate.samples, 3);
  EXPECT_EQ(estimate.cached_samples, 2);
  EXPECT_EQ(estimate.most_completion_tokens, 300);
  EXPECT_DOUBLE_EQ(estimate.at_most, estimate.prompt_cost + 600.0);
  EXPECT_GT(estimate.prompt_cost, 0.0);
  EXPECT_EQ(server_.requests(), 1);
  EXPECT_NE(describe(estimate, {}).find("cost unknown"), std::string::npos);
}

TEST_F(ChatClientTest, OptionsThatCannotBeMeantAreRefused) {
  const auto refused = [&](const std::function<void(ChatClientOptions&)>& change) {
    auto made = options(server_.base());
    change(made);
    EXPECT_THROW(client(made), UsageError);
  };
  refused([](auto& made) { made.model.name.clear(); });
  refused([](auto& made) { made.concurrency = 0; });
  refused([](auto& made) { made.max_cost = 1.0; });
  refused([](auto& made) { made.server = "http://api.example.com/v1"; });
  ::setenv("CUDAL1_TEST_KEY", "short", 1);
  refused([](auto& made) { made.server = "https://api.example.com/v1"; });
  EXPECT_THROW(client(options(server_.base())).complete(ChatRequest{}), UsageError);
}

TEST_F(ChatClientTest, CancellationEndsAllRequestsWithinASecond) {
  std::atomic<bool> release = false;
  server_.handler = [&](const nlohmann::json&, httplib::Response&) {
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  auto made = options(server_.base());
  made.concurrency = 4;
  made.most_samples_per_request = 1;
  ChatClient asking = client(made);
  std::chrono::steady_clock::time_point begin;
  std::thread canceller([&] {
    while (server_.requests() < 4) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    begin = std::chrono::steady_clock::now();
    cancelled_ = true;
  });
  const auto outcomes = asking.complete(request(40));
  canceller.join();
  const double took_s = seconds_since(begin);
  release = true;
  for (const auto& outcome : outcomes) {
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.failure->kind, ChatFailureKind::cancelled);
  }
  EXPECT_EQ(server_.requests(), 4);
  EXPECT_LT(took_s, 1.0);
}

}  // namespace
}  // namespace cudal1
