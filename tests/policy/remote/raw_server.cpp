#include "raw_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <charconv>
#include <stdexcept>

namespace cudal1 {
namespace {

bool is_readable(int socket, int milliseconds) {
  pollfd waiting{socket, POLLIN, 0};
  return ::poll(&waiting, 1, milliseconds) > 0;
}

std::size_t content_length(std::string_view head) {
  constexpr std::string_view name = "Content-Length: ";
  const std::size_t at = head.find(name);
  std::size_t bytes = 0;
  if (at != std::string_view::npos) std::from_chars(head.data() + at + name.size(), head.data() + head.size(), bytes);
  return bytes;
}

std::string read_request(int socket) {
  std::string request;
  std::size_t whole = std::string::npos;
  while (request.size() < whole) {
    char bytes[4096];
    const ssize_t got = ::recv(socket, bytes, sizeof bytes, 0);
    if (got <= 0) return {};
    request.append(bytes, static_cast<std::size_t>(got));
    const std::size_t head = request.find("\r\n\r\n");
    if (head != std::string::npos) whole = head + 4 + content_length(request);
  }
  return request;
}

}  // namespace

bool RawExchange::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawExchange::stall(std::chrono::milliseconds duration) const {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
    if (stopping_ || is_readable(socket_, 10)) return false;  // a client that only waits has nothing to say
  }
  return true;
}

RawServer::RawServer(Handler handler)
    : handler_(std::move(handler)), listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listening_.get(), plain, size) != 0 || ::listen(listening_.get(), 64) != 0 ||
      ::getsockname(listening_.get(), plain, &size) != 0)
    throw std::runtime_error("no socket for a test server");
  port_ = ::ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

RawServer::~RawServer() {
  stopping_ = true;
  acceptor_.join();
  for (auto& connection : connections_) connection.join();
}

std::string RawServer::base() const { return fmt::format("http://127.0.0.1:{}/v1", port_); }

void RawServer::accept_all() {
  while (!stopping_) {
    if (!is_readable(listening_.get(), 20)) continue;
    UniqueFd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) continue;
    connections_.emplace_back(
        [this, owned = std::make_shared<UniqueFd>(std::move(socket))] { serve(std::move(*owned)); });
  }
}

void RawServer::serve(UniqueFd socket) {
  while (!is_readable(socket.get(), 20))
    if (stopping_) return;
  std::string request = read_request(socket.get());
  if (!request.empty()) handler_(RawExchange(socket.get(), requests_++, std::move(request), stopping_));
  ::shutdown(socket.get(), SHUT_RDWR);
}

std::string http_response(int status, std::string_view body, std::string_view content_type,
                          std::string_view further_headers) {
  return fmt::format("HTTP/1.1 {} Whatever\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n{}",
                     status, content_type, body.size(), further_headers, body);
}

std::string stream_head() { return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"; }

}  // namespace cudal1
