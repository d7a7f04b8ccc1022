// What tests of the client share: a folder, a clock that only moves when somebody sleeps, answers as servers write
// them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "policy/remote/chat_client.hpp"

namespace cudal1 {

inline constexpr const char* test_key = "sk-test-0123456789abcdef";

class ClientFixture : public ::testing::Test {
 protected:
  ClientFixture() { ::setenv("CUDAL1_TEST_KEY", test_key, 1); }

  ChatClientOptions options(const std::string& server) const {
    ChatClientOptions made;
    made.server = server;
    made.model = {"tiny", false, true};
    made.cache_folder = folder_.path() / "remote";
    made.limits = {2.0, 5.0, 20.0, std::size_t{1} << 20, std::size_t{64} << 10};
    return made;
  }

  ChatSurroundings surroundings() {
    const std::chrono::steady_clock::time_point begin{};
    const std::chrono::system_clock::time_point wall_begin{std::chrono::seconds(784111777)};  // 06 Nov 1994 08:49:37
    const auto slept = [this] { return std::chrono::milliseconds(slept_ms_.load()); };
    const Waiting waiting{[=] { return begin + slept(); }, [=] { return wall_begin + slept(); },
                          [this](std::chrono::milliseconds duration) { slept_ms_ += duration.count(); }};
    return {waiting, [this] { return cancelled_.load(); }, Random(1),
            [this](const std::string& line) { warnings_.push_back(line); }};
  }

  ChatClient client(const ChatClientOptions& made) {
    return ChatClient(made, ApiKey::from_environment("CUDAL1_TEST_KEY"), surroundings());
  }

  static ChatRequest request(int samples = 1, const std::string& text = "Write a kernel.") {
    ChatRequest made;
    made.messages = {{ChatMessage::Role::user, text}};
    made.parameters.max_tokens = 100;
    made.samples = samples;
    return made;
  }

  double slept_seconds() const { return static_cast<double>(slept_ms_) * 1e-3; }

  TemporaryFolder folder_;
  std::atomic<std::int64_t> slept_ms_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::vector<std::string> warnings_;
};

inline std::string whole_answer(const std::vector<std::string>& texts, int completion_tokens = 7) {
  nlohmann::json body = {{"usage", {{"prompt_tokens", 11}, {"completion_tokens", completion_tokens}}},
                         {"choices", nlohmann::json::array()}};
  for (std::size_t at = 0; at < texts.size(); ++at)
    body["choices"].push_back(
        {{"index", at}, {"finish_reason", "stop"}, {"message", {{"role", "assistant"}, {"content", texts[at]}}}});
  return body.dump();
}

inline std::string event(const nlohmann::json& data) { return "data: " + data.dump() + "\n\n"; }

inline std::string delta_event(const std::string& text, int index = 0) {
  return event({{"choices", {{{"index", index}, {"delta", {{"content", text}}}, {"finish_reason", nullptr}}}}});
}

inline std::string finish_event(const std::string& reason, int index = 0) {
  return event({{"choices", {{{"index", index}, {"delta", nlohmann::json::object()}, {"finish_reason", reason}}}}});
}

inline std::string usage_event(int prompt, int completion) {
  return event({{"choices", nlohmann::json::array()},
                {"usage", {{"prompt_tokens", prompt}, {"completion_tokens", completion}}}});
}

}  // namespace cudal1
