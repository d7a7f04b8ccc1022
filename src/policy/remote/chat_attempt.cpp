#include "policy/remote/chat_attempt.hpp"

namespace cudal1 {
namespace {

constexpr int http_ok = 200;
constexpr std::size_t longest_error_body = std::size_t{64} << 10;

HttpRequest http_request(const ChatAttempt& attempt) {
  HttpRequest request;
  request.url = attempt.context.address.chat_completions();
  request.headers = {"Content-Type: application/json", "Accept: text/event-stream, application/json", "Expect:"};
  if (!attempt.context.key.empty()) request.headers.push_back(attempt.context.key.authorization_header());
  request.body = attempt.body;
  request.ca_file = attempt.ca_file;
  request.without_proxy = attempt.context.address.is_local;
  return request;
}

//! An answer that was whole before the connection broke counts.
std::optional<AttemptFailure> failure_of(const HttpOutcome& outcome, const ServerAnswer& answer,
                                         const std::string& error_body, const ServerContext& context) {
  const bool transport_broke = outcome.end != HttpEnd::complete && outcome.end != HttpEnd::enough;
  if (outcome.status == http_ok && answer.problem == AnswerProblem::none) return std::nullopt;
  if (outcome.status == 0 || outcome.end == HttpEnd::cancelled) return transport_failure(outcome, context);
  if (outcome.status != http_ok) return status_failure(outcome, error_body, context);
  if (transport_broke && answer.problem == AnswerProblem::cut) return transport_failure(outcome, context);
  return answer_failure(answer, outcome, context);
}

}  // namespace

AttemptResult attempt_chat(const ChatAttempt& attempt, HttpConnection& connection,
                           const AnswerReader::TextSink& on_text, const std::function<bool()>& cancelled) {
  AnswerReader reader(attempt.count, attempt.context.key, on_text);
  std::string error_body;
  const auto sink = [&](int status, std::string_view bytes) {
    if (status == http_ok) return reader.add(bytes);
    error_body += bytes.substr(0, longest_error_body - error_body.size());
    return error_body.size() < longest_error_body;
  };
  const HttpOutcome outcome = connection.post(http_request(attempt), attempt.limits, sink, cancelled);
  AttemptResult result;
  result.answer = reader.finish(outcome.end == HttpEnd::complete || outcome.end == HttpEnd::enough);
  result.failure = failure_of(outcome, result.answer, error_body, attempt.context);
  result.retry_after = outcome.retry_after;
  result.may_cost = outcome.status == http_ok;
  return result;
}

}  // namespace cudal1
