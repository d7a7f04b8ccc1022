#include "policy/remote/chat_request.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

namespace cudal1 {
namespace {

using nlohmann::json;

ChatRequest full_request() {
  ChatRequest request;
  request.messages = {{ChatMessage::Role::system, "You write CUDA."}, {ChatMessage::Role::user, "Go"}};
  request.parameters = {0.7, 0.9, 256, 42, {"<end>"}, ""};
  return request;
}

TEST(ChatRequest, SendsWhatIsSet) {
  const json body = json::parse(request_body(full_request(), {"tiny", false, true}, 3, 5));
  EXPECT_EQ(body, json::parse(R"({"model": "tiny", "max_tokens": 256, "temperature": 0.7, "top_p": 0.9, "seed": 47,
    "stop": ["<end>"], "n": 3, "stream": true, "stream_options": {"include_usage": true},
    "messages": [{"role": "system", "content": "You write CUDA."}, {"role": "user", "content": "Go"}]})"));
}

TEST(ChatRequest, LeavesOutWhatIsNot) {
  ChatRequest request;
  request.messages = {{ChatMessage::Role::user, "Go"}};
  const json body = json::parse(request_body(request, {"tiny", false, false}, 1, 0));
  EXPECT_EQ(body,
            json::parse(R"({"model": "tiny", "max_tokens": 4096, "messages": [{"role": "user", "content": "Go"}]})"));
}

TEST(ChatRequest, ReasoningModelsGetNoTemperatureAndAnotherLimit) {
  ChatRequest request = full_request();
  request.parameters.reasoning_effort = "low";
  const json body = json::parse(request_body(request, {"o3", true, false}, 1, 0));
  EXPECT_FALSE(body.contains("temperature") || body.contains("top_p") || body.contains("max_tokens"));
  EXPECT_EQ(body.at("max_completion_tokens"), 256);
  EXPECT_EQ(body.at("reasoning_effort"), "low");
}

TEST(ChatRequest, SourcesWithAnyBytesCanBeSent) {
  ChatRequest request;
  request.messages = {{ChatMessage::Role::user, "\xff\xfe latin \xe9"}};
  EXPECT_TRUE(json::accept(request_body(request, {"tiny", false, false}, 1, 0)));
}

TEST(ChatRequest, ReasoningModelsAreKnownByName) {
  for (const char* name : {"o1", "o3-mini", "openai/o4-mini", "gpt-5", "gpt-5.1", "gpt-5-mini"})
    EXPECT_TRUE(is_reasoning_model(name)) << name;
  for (const char* name : {"gpt-4o", "gpt-4.1", "o10", "olmo", "gpt-5-chat-latest", "smollm2", "gpt-50", ""})
    EXPECT_FALSE(is_reasoning_model(name)) << name;
}

TEST(ResponseKey, DiffersInEverythingThatAnAnswerDependsOn) {
  const ModelChoice model{"tiny", false, true};
  std::set<std::string> keys = {response_key(full_request(), model, "http://a/v1", 0)};
  const auto add = [&](const std::function<void(ChatRequest&)>& change) {
    ChatRequest request = full_request();
    change(request);
    EXPECT_TRUE(keys.insert(response_key(request, model, "http://a/v1", 0)).second);
  };
  add([](ChatRequest& request) { request.messages[1].text = "go"; });
  add([](ChatRequest& request) { request.messages[1].role = ChatMessage::Role::assistant; });
  add([](ChatRequest& request) { request.messages.pop_back(); });
  add([](ChatRequest& request) { request.parameters.temperature = 0.8; });
  add([](ChatRequest& request) { request.parameters.top_p.reset(); });
  add([](ChatRequest& request) { request.parameters.max_tokens = 257; });
  add([](ChatRequest& request) { request.parameters.seed = 43; });
  add([](ChatRequest& request) { request.parameters.stop.clear(); });
  EXPECT_TRUE(keys.insert(response_key(full_request(), model, "http://b/v1", 0)).second);
  EXPECT_TRUE(keys.insert(response_key(full_request(), model, "http://a/v1", 1)).second);
  EXPECT_TRUE(keys.insert(response_key(full_request(), {"other", false, true}, "http://a/v1", 0)).second);
}

TEST(ResponseKey, DoesNotDependOnHowTheAnswerTravels) {
  ChatRequest many = full_request();
  many.samples = 7;
  const std::string key = response_key(full_request(), {"tiny", false, true}, "http://a/v1", 0);
  EXPECT_EQ(response_key(many, {"tiny", false, false}, "http://a/v1", 0), key);
}

}  // namespace
}  // namespace cudal1
