// A chat server that behaves well, but for what a test asks of it; cpp-httplib speaks the HTTP.
#pragma once

#include <httplib.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace cudal1 {

class ChatServer {
 public:
  //! Answers a request; the default gives n choices "answer K", where K counts all choices, streamed if asked for.
  using Handler = std::function<void(const nlohmann::json& body, httplib::Response&)>;

  ChatServer() : ChatServer(std::make_unique<httplib::Server>()) {}
  explicit ChatServer(std::unique_ptr<httplib::Server> server);  //!< an SSLServer, for example
  ~ChatServer();

  //! Set before the first request.
  Handler handler;
  bool has_n = true;

  std::string base(const std::string& scheme = "http", const std::string& host = "127.0.0.1") const;
  int requests() const { return requests_; }
  int most_at_once() const { return most_at_once_; }
  std::vector<nlohmann::json> bodies() const;
  std::vector<std::string> authorizations() const;
  void answer(const nlohmann::json& body, httplib::Response& response);  //!< the default

 private:
  void serve(const httplib::Request& request, httplib::Response& response);

  std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  std::atomic<int> requests_ = 0, at_once_ = 0, most_at_once_ = 0, choices_ = 0;
  mutable std::mutex mutex_;
  std::vector<nlohmann::json> bodies_;
  std::vector<std::string> authorizations_;
  std::thread thread_;
};

}  // namespace cudal1
