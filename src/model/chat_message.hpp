// A conversation with a language model, and how its answers end, wherever the model runs.
#pragma once

#include <string>
#include <string_view>

namespace cudal1 {

struct ChatMessage {
  enum class Role { system, user, assistant };
  Role role = Role::user;
  std::string text;
  bool operator==(const ChatMessage&) const = default;
};

//! As chat servers and templates spell it.
constexpr std::string_view to_string(ChatMessage::Role role) {
  constexpr std::string_view names[] = {"system", "user", "assistant"};
  return names[static_cast<int>(role)];
}

//! Why a model stopped.
enum class FinishReason {
  unknown,
  stop,    //!< it had said all it wanted, or a stop string came
  length,  //!< it had no more tokens
  refusal  //!< by the model, or by a filter of its server
};

}  // namespace cudal1
