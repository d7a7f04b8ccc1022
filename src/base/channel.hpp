#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"

namespace cudal1 {

struct Message {
  std::string bytes;
  std::vector<UniqueFd> descriptors;
};

//! Messages over a Unix socket pair, each with at most four file descriptors. The peer may be hostile: lengths
//! are bounded, a broken frame closes the channel.
class Channel {
 public:
  static constexpr std::size_t max_message_bytes = std::size_t{64} << 20;

  Channel() = default;
  explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}
  static std::pair<Channel, Channel> pair();

  enum class Outcome { message, closed, timeout };
  //! A peer that does not read fills the socket: after `limit` that is a timeout, and the channel is of no use any
  //! more.
  Outcome send(std::string_view bytes, const std::vector<int>& descriptors,
               std::optional<std::chrono::milliseconds> limit);
  //! Waits as long as it takes. False when the peer is gone.
  bool send(std::string_view bytes, const std::vector<int>& descriptors = {}) {
    return send(bytes, descriptors, std::nullopt) == Outcome::message;
  }
  Outcome receive(Message& into, std::optional<std::chrono::milliseconds> limit = {});

  //! Before it sleeps, receive() asks the socket again and again for this long: a process that just slept is slower
  //! for a while, which would show in what it times.
  void set_spin(std::chrono::microseconds spin) { spin_ = spin; }

  int descriptor() const { return socket_.get(); }
  void close() { socket_.reset(); }

 private:
  UniqueFd socket_;
  std::chrono::microseconds spin_{0};
};

}  // namespace cudal1
