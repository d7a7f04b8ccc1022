#include "policy/remote/chat_sample.hpp"

#include <array>
#include <utility>

namespace cudal1 {
namespace {

constexpr std::array<std::string_view, 4> finish_names = {"unknown", "stop", "length", "refusal"};
constexpr std::array<std::string_view, 12> failure_names = {
    "unreachable",  "untrusted", "timed_out",   "cut",        "rate_limited", "server_error",
    "unauthorized", "not_found", "bad_request", "bad_answer", "ceiling",      "cancelled"};

}  // namespace

std::string_view to_string(FinishReason reason) { return finish_names.at(static_cast<std::size_t>(reason)); }

std::optional<FinishReason> finish_reason_from_string(std::string_view name) {
  for (std::size_t at = 0; at < finish_names.size(); ++at)
    if (finish_names[at] == name) return static_cast<FinishReason>(at);
  return std::nullopt;
}

std::string_view to_string(ChatFailureKind kind) { return failure_names.at(static_cast<std::size_t>(kind)); }

}  // namespace cudal1
