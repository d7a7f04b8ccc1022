// What a client sees of servers that are slow, break off, lie or talk nonsense. Each says its bytes over a real socket.
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <thread>

#include "base/seconds_since.hpp"
#include "client_fixture.hpp"
#include "raw_server.hpp"

namespace cudal1 {
namespace {

using namespace std::chrono_literals;

class MisbehavingServerTest : public ClientFixture {
 protected:
  ChatSampleOutcome ask(const RawServer& server, const std::function<void(ChatClientOptions&)>& change = {}) {
    ChatClientOptions made = options(server.base());
    if (change) change(made);
    ChatClient asking = client(made);
    ChatSampleOutcome outcome = asking.complete(request()).at(0);
    totals_ = asking.totals();
    if (outcome.failure) {
      EXPECT_EQ(outcome.failure->message.find_first_of("\r\n"), std::string::npos) << outcome.failure->message;
    }
    return outcome;
  }

  //! The message, or nothing if there was none of that kind.
  static std::string message_of(const ChatSampleOutcome& outcome, ChatFailureKind kind) {
    if (outcome.ok()) return ADD_FAILURE() << "an answer: " << outcome.sample->text, "";
    EXPECT_EQ(to_string(outcome.failure->kind), to_string(kind)) << outcome.failure->message;
    return outcome.failure->message;
  }

  //! The first answer to each request is cut, one byte later every time.
  void cut_anywhere(const std::string& whole, const std::string& text) {
    std::atomic<std::size_t> cut_at = 0;
    const RawServer server(
        [&](const RawExchange& exchange) { exchange.send(whole.substr(0, cut_at.exchange(whole.size()))); });
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      cut_at = bytes;
      const ChatSampleOutcome outcome = ask(server, [](auto& made) { made.cache_folder.clear(); });
      ASSERT_TRUE(outcome.ok()) << bytes << ": " << outcome.failure->message;
      ASSERT_EQ(outcome.sample->text, text) << bytes;
      ASSERT_EQ(outcome.sample->finish, FinishReason::stop) << bytes;
    }
    EXPECT_GT(server.requests(), static_cast<int>(whole.size())) << "nothing was tried again";
  }

  ChatTotals totals_;
};

std::string fine() { return http_response(200, whole_answer({"fine"})); }

//! The first requests get these answers, all others a good one.
RawServer::Handler first_then_fine(const std::vector<std::string>& answers) {
  return [answers](const RawExchange& exchange) {
    const auto number = static_cast<std::size_t>(exchange.number());
    exchange.send(number < answers.size() ? answers[number] : fine());
  };
}

RawServer::Handler always(const std::string& answer) {
  return [answer](const RawExchange& exchange) { exchange.send(answer); };
}

// --- Attempts ------------------------------------------------------------------------------------------------------

TEST_F(MisbehavingServerTest, BusyServersAreAskedAgainAfterGrowingWaits) {
  for (const int status : {408, 429, 500, 502, 503, 504, 529}) {
    const RawServer server(first_then_fine({http_response(status, "{}"), http_response(status, "oops", "text/plain")}));
    slept_ms_ = 0;
    const ChatSampleOutcome outcome = ask(server);
    ASSERT_TRUE(outcome.ok()) << status << ": " << outcome.failure->message;
    EXPECT_EQ(outcome.sample->attempts, 3);
    EXPECT_EQ(totals_.retries, 2);
    EXPECT_GE(slept_seconds(), 0.75) << "half of 0.5 s and of 1 s at least";
    EXPECT_LE(slept_seconds(), 1.6);
  }
}

TEST_F(MisbehavingServerTest, AfterSoManyAttemptsItGivesUp) {
  const RawServer server(always(http_response(503, R"({"error": {"message": "overloaded"}})")));
  const std::string message = message_of(ask(server), ChatFailureKind::server_error);
  EXPECT_EQ(server.requests(), 6);
  EXPECT_NE(message.find("(503): overloaded (after 6 attempts)"), std::string::npos) << message;
}

TEST_F(MisbehavingServerTest, RetryAfterIsWaitedForAsSecondsOrAsADate) {
  // The test's clock shows Sun, 06 Nov 1994 08:49:37 GMT.
  for (const std::string header : {"Retry-After: 40\r\n", "retry-after: Sun, 06 Nov 1994 08:50:17 GMT\r\n"}) {
    const RawServer server(first_then_fine({http_response(429, "{}", "application/json", header)}));
    slept_ms_ = 0;
    ASSERT_TRUE(ask(server, [](auto& made) { made.cache_folder.clear(); }).ok());
    EXPECT_NEAR(slept_seconds(), 40.0, 0.1) << header;
  }
}

TEST_F(MisbehavingServerTest, ARetryAfterOfHoursIsNotWaitedFor) {
  const RawServer server(always(http_response(429, "{}", "application/json", "Retry-After: 7200\r\n")));
  const std::string message = message_of(ask(server), ChatFailureKind::rate_limited);
  EXPECT_EQ(server.requests(), 1);
  EXPECT_NE(message.find("7200 s"), std::string::npos) << message;
  EXPECT_EQ(slept_seconds(), 0.0);
}

TEST_F(MisbehavingServerTest, AnEmptyAccountIsNotAskedAgain) {
  const RawServer server(
      always(http_response(429, R"({"error": {"message": "quota", "code": "insufficient_quota"}})")));
  EXPECT_NE(message_of(ask(server), ChatFailureKind::rate_limited).find("no credit"), std::string::npos);
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(MisbehavingServerTest, WhatWillNotChangeIsNotAskedAgainAndSaysWhatToDo) {
  const std::vector<std::tuple<int, ChatFailureKind, std::string>> cases = {
      {400, ChatFailureKind::bad_request, "--reasoning"},      {401, ChatFailureKind::unauthorized, "CUDAL1_TEST_KEY"},
      {403, ChatFailureKind::unauthorized, "CUDAL1_TEST_KEY"}, {404, ChatFailureKind::not_found, "--remote-model"},
      {422, ChatFailureKind::bad_request, "does not accept"},  {501, ChatFailureKind::server_error, "fails (501)"},
      {418, ChatFailureKind::bad_request, "does not accept"}};
  for (const auto& [status, kind, hint] : cases) {
    const RawServer server(
        always(http_response(status, R"({"error": {"message": "Unsupported value: 'temperature'"}})")));
    const std::string message = message_of(ask(server), kind);
    EXPECT_NE(message.find(hint), std::string::npos) << message;
    EXPECT_NE(message.find("Unsupported value: 'temperature'"), std::string::npos) << message;
    EXPECT_EQ(server.requests(), 1) << status;
  }
}

TEST_F(MisbehavingServerTest, AMissingKeyIsSaidToBeMissing) {
  ::setenv("CUDAL1_TEST_KEY", "", 1);
  const RawServer server(always(http_response(401, "{}")));
  EXPECT_NE(message_of(ask(server), ChatFailureKind::unauthorized).find("set CUDAL1_TEST_KEY"), std::string::npos);
}

TEST_F(MisbehavingServerTest, WhatIsWrongForAllIsAskedOnce) {
  const RawServer server(always(http_response(401, "{}")));
  auto made = options(server.base());
  made.most_samples_per_request = 1;
  made.concurrency = 1;
  for (const auto& outcome : client(made).complete(request(10)))
    EXPECT_EQ(outcome.failure->kind, ChatFailureKind::unauthorized);
  EXPECT_EQ(server.requests(), 1);
}

// --- Connections that break ----------------------------------------------------------------------------------------

TEST_F(MisbehavingServerTest, AStreamCutAtAnyByteIsRepairedOrGivesTheWholeText) {
  const std::string stream = stream_head() + delta_event("int ") + delta_event("ma\u00efn") + finish_event("stop") +
                             usage_event(3, 4) + "data: [DONE]\n\n";
  cut_anywhere(stream, "int ma\u00efn");
}

TEST_F(MisbehavingServerTest, AChunkedStreamCutAtAnyByteIsRepairedOrGivesTheWholeText) {
  std::string stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& chunk :
       {delta_event("int "), delta_event("main"), finish_event("stop"), std::string("data: [DONE]\n\n")})
    stream += fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk);
  stream += "0\r\n\r\n";
  cut_anywhere(stream, "int main");
}

TEST_F(MisbehavingServerTest, AWholeAnswerCutInTheMiddleIsAskedForAgain) {
  const std::string body = whole_answer({"int main() {}"});
  const std::string unframed =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + body.substr(0, 60);
  const std::string framed = http_response(200, body).substr(0, http_response(200, body).size() - 9);
  const RawServer server(first_then_fine({unframed, framed}));
  const ChatSampleOutcome outcome = ask(server);
  ASSERT_TRUE(outcome.ok()) << outcome.failure->message;
  EXPECT_EQ(outcome.sample->text, "fine");
  EXPECT_EQ(server.requests(), 3);
}

TEST_F(MisbehavingServerTest, TextOfABrokenStreamIsNeitherMixedIntoTheNextNorFree) {
  const RawServer server([](const RawExchange& exchange) {
    exchange.send(stream_head() + delta_event("half of it, "));
    if (exchange.number() > 0)
      exchange.send(delta_event("all of it") + finish_event("stop") + usage_event(10, 5) + "data: [DONE]\n\n");
  });
  auto made = options(server.base());
  made.prices = {1e6, 1e6};
  ChatClient asking = client(made);
  std::vector<std::string> by_attempt(3);
  const auto outcome = asking
                           .complete(request(),
                                     [&](const TextPiece& piece) {
                                       by_attempt.at(static_cast<std::size_t>(piece.attempt)) += piece.text;
                                     })
                           .at(0);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.sample->text, "half of it, all of it");
  EXPECT_EQ(by_attempt[1], "half of it, ");
  EXPECT_EQ(by_attempt[2], "half of it, all of it");
  EXPECT_DOUBLE_EQ(outcome.sample->cost, 15.0);
  EXPECT_GT(asking.totals().cost, 15.0);
  EXPECT_TRUE(asking.totals().tokens.estimated);
}

TEST_F(MisbehavingServerTest, NobodyListeningIsSaidSo) {
  std::string base;
  {
    const RawServer server(always(fine()));
    base = server.base();
  }
  const auto outcome = client(options(base)).complete(request()).at(0);
  EXPECT_NE(message_of(outcome, ChatFailureKind::unreachable).find("is the server running"), std::string::npos);
  EXPECT_EQ(outcome.failure->attempts, 6);
}

// --- Slowness ------------------------------------------------------------------------------------------------------

void be_impatient(ChatClientOptions& made) {
  made.limits.idle_s = 0.3;
  made.retry.attempts = 2;
}

TEST_F(MisbehavingServerTest, HeadersThatDoNotComeAreNotWaitedForForever) {
  const RawServer server([](const RawExchange& exchange) { exchange.stall(5s); });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NE(message_of(ask(server, be_impatient), ChatFailureKind::timed_out).find("nothing came for 0.3 s"),
            std::string::npos);
  EXPECT_EQ(server.requests(), 2);
  EXPECT_LT(seconds_since(begin), 3.0);
}

TEST_F(MisbehavingServerTest, AStallInTheMiddleOfAStreamIsEndedAndTriedAgain) {
  const RawServer server([](const RawExchange& exchange) {
    if (exchange.number() > 0) return void(exchange.send(fine()));
    exchange.send(stream_head() + delta_event("int "));
    exchange.stall(5s);
  });
  const ChatSampleOutcome outcome = ask(server, be_impatient);
  ASSERT_TRUE(outcome.ok()) << outcome.failure->message;
  EXPECT_EQ(outcome.sample->attempts, 2);
}

TEST_F(MisbehavingServerTest, ASlowStreamThatKeepsComingIsWaitedFor) {
  const RawServer server([](const RawExchange& exchange) {
    exchange.send(stream_head());
    for (int piece = 0; piece < 8; ++piece) {
      exchange.send(piece % 2 ? ": still thinking\n\n" : delta_event("x"));
      exchange.stall(100ms);
    }
    exchange.send("data: [DONE]\n\n");
  });
  const ChatSampleOutcome outcome = ask(server, be_impatient);
  ASSERT_TRUE(outcome.ok()) << outcome.failure->message;
  EXPECT_EQ(outcome.sample->text, "xxxx");
  EXPECT_EQ(outcome.sample->attempts, 1);
}

TEST_F(MisbehavingServerTest, ATrickleWithoutEndMeetsTheTotalLimit) {
  const RawServer server([](const RawExchange& exchange) {
    exchange.send(stream_head());
    while (exchange.send(": still thinking\n\n") && exchange.stall(50ms)) {
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  message_of(ask(server, [](auto& made) { be_impatient(made), made.limits.total_s = 0.6; }),
             ChatFailureKind::timed_out);
  EXPECT_LT(seconds_since(begin), 4.0);
}

TEST_F(MisbehavingServerTest, CancellationEndsAStalledStreamAndALongWaitInTime) {
  const std::vector<RawServer::Handler> handlers = {
      [](const RawExchange& exchange) {
        exchange.send(stream_head() + delta_event("int "));
        exchange.stall(10s);
      },
      always(http_response(429, "{}", "application/json", "Retry-After: 100\r\n"))};
  for (const auto& handler : handlers) {
    const RawServer server(handler);
    cancelled_ = false;
    ChatSurroundings real = surroundings();
    real.waiting = real_waiting();
    ChatClient asking(options(server.base()), ApiKey::from_environment("CUDAL1_TEST_KEY"), real);
    std::chrono::steady_clock::time_point begin;
    std::thread canceller([&] {
      while (server.requests() == 0) std::this_thread::sleep_for(5ms);
      std::this_thread::sleep_for(100ms);
      begin = std::chrono::steady_clock::now();
      cancelled_ = true;
    });
    const ChatSampleOutcome outcome = asking.complete(request()).at(0);
    canceller.join();
    EXPECT_LT(seconds_since(begin), 1.0);
    message_of(outcome, ChatFailureKind::cancelled);
  }
}

// --- Nonsense ------------------------------------------------------------------------------------------------------

TEST_F(MisbehavingServerTest, BodiesThatAreNoAnswersAreNamedAndNotPaidForTwice) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {http_response(200, "{\"choices\": [}"), "sent no JSON"},
      {http_response(200, "{\"choices\": [{\"message\": {\"content\": \"caf\xe9\"}}]}"), "not UTF-8"},
      {http_response(200, "<html><body>Welcome to the airport</body></html>", "text/html"), "web page"},
      {http_response(200, "{\"object\": \"list\"}"), "no chat completion"},
      {http_response(200, "hello", "text/plain"), "sent no JSON: hello"},
      {http_response(200, "{\"choices\": []}"), "no choices"}};
  for (const auto& [answer, expected] : cases) {
    const RawServer server(always(answer));
    const std::string message = message_of(ask(server), ChatFailureKind::bad_answer);
    EXPECT_NE(message.find(expected), std::string::npos) << message;
    EXPECT_EQ(server.requests(), 1) << expected;
  }
}

TEST_F(MisbehavingServerTest, AWrongContentTypeDoesNotMatter) {
  const std::string stream = delta_event("fine") + finish_event("stop") + "data: [DONE]\n\n";
  for (const std::string& answer :
       {http_response(200, stream, "application/json"), http_response(200, whole_answer({"fine"}), "text/html"),
        http_response(200, whole_answer({"fine"}), "text/event-stream")}) {
    const RawServer server(always(answer));
    const ChatSampleOutcome outcome = ask(server, [](auto& made) { made.cache_folder.clear(); });
    ASSERT_TRUE(outcome.ok()) << outcome.failure->message;
    EXPECT_EQ(outcome.sample->text, "fine");
  }
}

TEST_F(MisbehavingServerTest, ABodyWithoutEndIsCutOff) {
  const std::vector<std::string> floods = {delta_event(std::string(1000, 'x')), ": " + std::string(1000, ' '), " "};
  for (const auto& flood : floods)
    for (const int status : {200, 500}) {
      const std::string head = fmt::format("HTTP/1.1 {} X\r\nConnection: close\r\n\r\n", status);
      const RawServer server([&](const RawExchange& exchange) {
        std::string much = flood;
        while (much.size() < 64 * 1024) much += flood;
        for (bool going = exchange.send(head); going;) going = exchange.send(much);
      });
      const auto begin = std::chrono::steady_clock::now();
      const ChatSampleOutcome outcome = ask(server, [](auto& made) { made.retry.attempts = 1; });
      message_of(outcome, status == 200 ? ChatFailureKind::bad_answer : ChatFailureKind::server_error);
      EXPECT_LT(seconds_since(begin), 5.0);
    }
}

TEST_F(MisbehavingServerTest, HeadersWithoutEndAreCutOff) {
  const RawServer server([](const RawExchange& exchange) {
    bool going = exchange.send("HTTP/1.1 200 OK\r\n");
    for (int line = 0; going; ++line)
      going = exchange.send(fmt::format("X-Flood-{}: {}\r\n", line, std::string(500, 'x')));
  });
  const auto begin = std::chrono::steady_clock::now();
  message_of(ask(server, [](auto& made) { made.retry.attempts = 1; }), ChatFailureKind::bad_answer);
  EXPECT_LT(seconds_since(begin), 5.0);
}

TEST_F(MisbehavingServerTest, NoHttpAtAllIsSaidInOneLine) {
  for (const std::string& nonsense :
       {std::string("220 mail.example.com ESMTP\r\n"), std::string("\0\0\xff\xff", 4), std::string()}) {
    const RawServer server(always(nonsense));
    EXPECT_FALSE(ask(server).ok());
  }
}

TEST_F(MisbehavingServerTest, AnErrorInTheMiddleOfAStreamIsTriedAgainUnlessItIsOurs) {
  const std::string overloaded =
      stream_head() + delta_event("int ") + event({{"error", {{"message", "overloaded"}, {"code", 503}}}});
  const RawServer busy(first_then_fine({overloaded}));
  EXPECT_EQ(ask(busy).sample->text, "fine");
  const std::string too_long = stream_head() + event({{"error", {{"message", "prompt too long"}, {"code", 400}}}});
  const RawServer strict(always(too_long));
  EXPECT_NE(message_of(ask(strict), ChatFailureKind::server_error).find("prompt too long"), std::string::npos);
  EXPECT_EQ(strict.requests(), 1);
}

TEST_F(MisbehavingServerTest, WithoutUsageTokensAreEstimatedAndSaidToBe) {
  const RawServer server(
      always(stream_head() + delta_event("int main() {}") + finish_event("stop") + "data: [DONE]\n\n"));
  const ChatSampleOutcome outcome = ask(server);
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome.sample->tokens.estimated);
  EXPECT_GT(outcome.sample->tokens.completion, 0);
  EXPECT_GT(outcome.sample->tokens.prompt, 0);
}

// --- The key -------------------------------------------------------------------------------------------------------

TEST_F(MisbehavingServerTest, ARedirectionIsNotFollowedSoThatTheKeyStaysHere) {
  const RawServer thief(always(fine()));
  for (const int status : {301, 302, 307, 308}) {
    const RawServer server(
        always(http_response(status, "", "text/plain", "Location: " + thief.base() + "/chat/completions\r\n")));
    const std::string message = message_of(ask(server), ChatFailureKind::bad_answer);
    EXPECT_NE(message.find(thief.base()), std::string::npos) << message;
    EXPECT_EQ(server.requests(), 1);
  }
  EXPECT_EQ(thief.requests(), 0);
}

TEST_F(MisbehavingServerTest, AKeyThatTheServerEchoesIsInNoMessage) {
  const std::string key = test_key;
  const std::string padding(235, 'x');  // so that the key lies across the end of what is shown
  std::vector<std::string> answers;
  for (const int status : {302, 400, 401, 403, 404, 429, 500})
    for (const std::string& text : {"bad key " + key, padding + key})
      for (const std::string& body :
           {text, nlohmann::json{{"error", {{"message", text}}}}.dump(), nlohmann::json{{"detail", text}}.dump()})
        answers.push_back(
            http_response(status, body, "application/json", "Location: https://evil.example/?k=" + key + "\r\n"));
  for (const std::string& body :
       {key, "{" + key, padding + key, "data: " + key + "\n\n", "{\"error\": \"" + key + "\"}"})
    answers.push_back(http_response(200, body));
  for (const auto& answer : answers) {
    const RawServer server(always(answer));
    const ChatSampleOutcome outcome = ask(server);
    ASSERT_FALSE(outcome.ok()) << answer;
    for (std::size_t bytes = 12; bytes <= key.size(); ++bytes)
      ASSERT_EQ(outcome.failure->message.find(key.substr(0, bytes)), std::string::npos) << outcome.failure->message;
  }
}

TEST_F(MisbehavingServerTest, AKeyInAnAnswerReachesNeitherTheTextNorTheCache) {
  const std::string key = test_key;
  const RawServer server(always(stream_head() + delta_event("your key is " + key.substr(0, 9)) +
                                delta_event(key.substr(9) + ".") + finish_event("stop") + "data: [DONE]\n\n"));
  std::string streamed;
  ChatClient asking = client(options(server.base()));
  const auto outcome = asking.complete(request(), [&](const TextPiece& piece) { streamed += piece.text; }).at(0);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.sample->text, "your key is [key].");
  EXPECT_EQ(streamed, outcome.sample->text);
  const auto files = files_below(folder_.path());
  ASSERT_FALSE(files.empty());
  for (const auto& file : files) EXPECT_EQ(read_file(file).find(key), std::string::npos) << file;
}

}  // namespace
}  // namespace cudal1
