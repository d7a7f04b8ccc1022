#include "chat_server.hpp"

#include <fmt/format.h>

#include "client_fixture.hpp"

namespace cudal1 {

ChatServer::ChatServer(std::unique_ptr<httplib::Server> server) : server_(std::move(server)) {
  server_->new_task_queue = [] { return new httplib::ThreadPool(16); };
  server_->set_keep_alive_timeout(1);
  server_->Post("/v1/chat/completions", [this](const auto& request, auto& response) { serve(request, response); });
  port_ = server_->bind_to_any_port("127.0.0.1");
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  while (!server_->is_running()) std::this_thread::yield();
}

ChatServer::~ChatServer() {
  server_->stop();
  thread_.join();
}

std::string ChatServer::base(const std::string& scheme, const std::string& host) const {
  return fmt::format("{}://{}:{}/v1", scheme, host, port_);
}

std::vector<nlohmann::json> ChatServer::bodies() const {
  const std::lock_guard lock(mutex_);
  return bodies_;
}

std::vector<std::string> ChatServer::authorizations() const {
  const std::lock_guard lock(mutex_);
  return authorizations_;
}

void ChatServer::serve(const httplib::Request& request, httplib::Response& response) {
  const int now = ++at_once_;
  for (int most = most_at_once_; now > most && !most_at_once_.compare_exchange_weak(most, now);) {
  }
  const nlohmann::json body = nlohmann::json::parse(request.body);
  {
    const std::lock_guard lock(mutex_);
    bodies_.push_back(body);
    authorizations_.push_back(request.get_header_value("Authorization"));
  }
  ++requests_;
  handler ? handler(body, response) : answer(body, response);
  --at_once_;
}

void ChatServer::answer(const nlohmann::json& body, httplib::Response& response) {
  const int count = has_n ? body.value("n", 1) : 1;
  std::vector<std::string> texts;
  for (int choice = 0; choice < count; ++choice) texts.push_back(fmt::format("answer {}", choices_++));
  if (!body.value("stream", false)) return response.set_content(whole_answer(texts, 7 * count), "application/json");
  std::string events;
  for (int choice = 0; choice < count; ++choice)
    events += delta_event(texts[static_cast<std::size_t>(choice)], choice) + finish_event("stop", choice);
  events += usage_event(11, 7 * count) + "data: [DONE]\n\n";
  response.set_chunked_content_provider("text/event-stream", [events](std::size_t, httplib::DataSink& sink) {
    for (std::size_t at = 0; at < events.size(); at += 10)
      sink.write(events.data() + at, std::min<std::size_t>(10, events.size() - at));
    sink.done();
    return true;
  });
}

}  // namespace cudal1
