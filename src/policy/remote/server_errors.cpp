#include "policy/remote/server_errors.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr std::size_t longest_snippet_bytes = 240;

//! Of any bytes: letters beyond ASCII stay if they are UTF-8, the rest becomes blanks and question marks.
std::string readable(const std::string& text) {
  std::string line;
  const std::string utf8 =
      json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
  for (const char letter : utf8) {
    const bool blank = static_cast<unsigned char>(letter) <= 0x20 || letter == 0x7f;
    if (!blank)
      line += letter;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string cut_between_characters(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes) + " …";
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool looks_like_html(std::string_view body) {
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && body[begin] == '<';
}

struct ErrorBody {
  std::string message;  //!< ": what the server says", or nothing
  bool account_is_empty = false;
};

ErrorBody read_error_body(std::string_view body, const ApiKey& key) {
  ErrorBody result;
  if (looks_like_html(body)) return {": it sent a web page", false};
  const json parsed = json::parse(body, nullptr, false);
  const std::string message = parsed.is_discarded() ? std::string(body) : error_message_in(parsed);
  const std::string line = snippet(message, key);
  if (!line.empty()) result.message = ": " + line;
  result.account_is_empty = body.find("insufficient_quota") != std::string_view::npos;
  return result;
}

std::string key_hint(int status, const ServerContext& context) {
  if (context.key.empty()) return fmt::format("wants a key ({}): set {}", status, context.key.variable());
  return fmt::format("does not accept the key in {} for model {} ({})", context.key.variable(), context.model.name,
                     status);
}

std::string request_hint(const std::string& message) {
  if (message.find("max_completion_tokens") != std::string::npos || message.find("temperature") != std::string::npos)
    return " (a reasoning model? use --reasoning)";
  if (message.find("stream") != std::string::npos) return " (use --no-stream)";
  if (message.find("context") != std::string::npos)
    return " (too long for the model: say how much it can see with --context, or lower --max-tokens)";
  return {};
}

AttemptFailure made(ChatFailureKind kind, int status, bool retry, std::string message, const ServerContext& context) {
  return {{kind, context.key.redact(fmt::format("{} {}", context.address.host, message)), status, 0}, retry};
}

bool is_client_error(int status) { return status >= 400 && status < 500; }

//! Worth another attempt: the server is busy, or a proxy before it is.
bool is_transient(int status) {
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status != 501 && status != 505);
}

AttemptFailure stream_error(const ServerAnswer& answer, const ServerContext& context) {
  const int status = answer.error_status;
  const bool retry = !is_client_error(status) || is_transient(status);
  return made(ChatFailureKind::server_error, status, retry, "reports an error: " + answer.detail, context);
}

}  // namespace

std::string snippet(std::string_view text, const ApiKey& key) {
  // The key first: half of it would not be found any more.
  return cut_between_characters(readable(key.redact(std::string(text))), longest_snippet_bytes);
}

std::string error_message_in(const json& body) {
  if (body.is_string()) return body.get<std::string>();
  if (!body.is_object()) return {};
  for (const char* name : {"error", "message", "detail", "title"}) {
    const auto found = body.find(name);
    if (found == body.end() || found->is_null()) continue;
    if (found->is_object() && found->contains("message")) return text_of(found->at("message"));
    return text_of(*found);
  }
  return {};
}

AttemptFailure transport_failure(const HttpOutcome& outcome, const ServerContext& context) {
  const auto fail = [&](ChatFailureKind kind, bool retry, const std::string& message) {
    return made(kind, outcome.status, retry, message, context);
  };
  switch (outcome.end) {
    case HttpEnd::unreachable:
      return fail(ChatFailureKind::unreachable, true,
                  fmt::format("cannot be reached ({}): is the server running, is --server right?", outcome.detail));
    case HttpEnd::untrusted:
      return fail(ChatFailureKind::untrusted, false,
                  fmt::format("is not trusted ({}): use --ca-file for a certificate of your own", outcome.detail));
    case HttpEnd::timed_out:
      return fail(ChatFailureKind::timed_out, true,
                  fmt::format("is too slow: {}; --idle-timeout and --request-timeout wait longer", outcome.detail));
    case HttpEnd::too_large:
      return fail(ChatFailureKind::bad_answer, false, "sends more than an answer can be: the request was ended");
    case HttpEnd::cancelled:
      return {{ChatFailureKind::cancelled, "cancelled", outcome.status, 0}, false};
    default:
      return fail(ChatFailureKind::cut, true, fmt::format("ended the connection too early ({})", outcome.detail));
  }
}

AttemptFailure status_failure(const HttpOutcome& outcome, std::string_view body, const ServerContext& context) {
  const int status = outcome.status;
  const ErrorBody error = read_error_body(body, context.key);
  const auto fail = [&](ChatFailureKind kind, bool retry, const std::string& message) {
    return made(kind, status, retry, message + error.message, context);
  };
  if (status == 401 || status == 403) return fail(ChatFailureKind::unauthorized, false, key_hint(status, context));
  if (status == 404)
    return fail(
        ChatFailureKind::not_found, false,
        fmt::format("has no model {} or no {} (404): look at --remote-model and --server, which often ends in /v1",
                    context.model.name, context.address.chat_completions()));
  if (status == 429 && error.account_is_empty)
    return fail(ChatFailureKind::rate_limited, false, "says that the account has no credit left (429)");
  if (status == 429)
    return fail(ChatFailureKind::rate_limited, true, "limits requests (429): try later or lower --concurrency");
  if (status >= 300 && status < 400)
    return made(ChatFailureKind::bad_answer, status, false,
                fmt::format("redirects ({}) to {}: the key is not sent there; if it is right, make it --server", status,
                            snippet(outcome.location, context.key)),
                context);
  if (is_client_error(status) && !is_transient(status))
    return fail(ChatFailureKind::bad_request, false,
                fmt::format("does not accept the request ({}){}", status, request_hint(error.message)));
  return fail(ChatFailureKind::server_error, is_transient(status), fmt::format("fails ({})", status));
}

AttemptFailure answer_failure(const ServerAnswer& answer, const HttpOutcome& outcome, const ServerContext& context) {
  const auto fail = [&](ChatFailureKind kind, bool retry, const std::string& message) {
    return made(kind, outcome.status, retry, message, context);
  };
  switch (answer.problem) {
    case AnswerProblem::cut:
      return fail(ChatFailureKind::cut, true, "ended the connection too early: " + answer.detail);
    case AnswerProblem::server_error:
      return stream_error(answer, context);
    case AnswerProblem::html:
      return fail(ChatFailureKind::bad_answer, false,
                  "sent a web page instead of JSON: look at --server, which often ends in /v1");
    case AnswerProblem::no_utf8:
      return fail(ChatFailureKind::bad_answer, false,
                  "sent bytes that are not UTF-8: is it OpenAI-compatible, is --server right?");
    case AnswerProblem::no_json:
      return fail(ChatFailureKind::bad_answer, false,
                  fmt::format("sent no JSON: {} (is it OpenAI-compatible, is --server right?)", answer.detail));
    default:
      return fail(ChatFailureKind::bad_answer, false,
                  fmt::format("sent no chat completion but {}: is it OpenAI-compatible?", answer.detail));
  }
}

}  // namespace cudal1
