// A server of sockets that says exactly what a test wants, byte by byte, right or wrong.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"

namespace cudal1 {

//! One request that has been read whole, and the way to answer it.
class RawExchange {
 public:
  RawExchange(int socket, int number, std::string request, const std::atomic<bool>& stopping)
      : socket_(socket), number_(number), request_(std::move(request)), stopping_(stopping) {}
  int number() const { return number_; }  //!< counts requests from 0
  const std::string& request() const { return request_; }
  bool send(std::string_view bytes) const;  //!< false: the client has gone
  //! Waits that long, or until the server is to stop or the client has gone; false: one of these.
  bool stall(std::chrono::milliseconds duration) const;

 private:
  int socket_;
  int number_;
  std::string request_;
  const std::atomic<bool>& stopping_;
};

//! Answers every connection once, in a thread of its own, and closes it.
class RawServer {
 public:
  using Handler = std::function<void(const RawExchange&)>;

  explicit RawServer(Handler handler);
  ~RawServer();
  std::string base() const;  //!< http://127.0.0.1:PORT/v1
  int port() const { return port_; }
  int requests() const { return requests_; }

 private:
  void accept_all();
  void serve(UniqueFd socket);

  Handler handler_;
  UniqueFd listening_;
  int port_ = 0;
  std::atomic<int> requests_ = 0;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::vector<std::thread> connections_;
  std::thread acceptor_;
};

//! "HTTP/1.1 STATUS …" with that body and its length.
std::string http_response(int status, std::string_view body, std::string_view content_type = "application/json",
                          std::string_view further_headers = "");
//! The head of a stream whose end is that of the connection.
std::string stream_head();

}  // namespace cudal1
