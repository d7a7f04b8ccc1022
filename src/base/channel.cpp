#include "base/channel.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t max_descriptors = 4;
constexpr std::uint32_t frame_mark = 0x31434c43;  // "CLC1"

struct FrameHeader {
  std::uint32_t mark = frame_mark;
  std::uint32_t bytes = 0;
};

using Clock = std::chrono::steady_clock;

void spin_until_readable(int fd, std::chrono::microseconds longest) {
  const auto end = Clock::now() + longest;
  pollfd waiting{fd, POLLIN, 0};
  while (Clock::now() < end && ::poll(&waiting, 1, 0) == 0) {
  }
}

//! True when the socket can be read (POLLIN) or written (POLLOUT) before the deadline.
bool wait_ready(int fd, short event, const std::optional<Clock::time_point>& deadline) {
  pollfd waiting{fd, event, 0};
  for (;;) {
    int milliseconds = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      milliseconds = static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
    }
    const int ready = ::poll(&waiting, 1, milliseconds);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return true;  // the call that follows reports what is wrong
  }
}

std::optional<Clock::time_point> deadline_after(const std::optional<std::chrono::milliseconds>& limit) {
  if (!limit) return std::nullopt;
  return Clock::now() + *limit;
}

void take_descriptors(msghdr& header, std::vector<UniqueFd>& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      into.emplace_back(fd);
    }
  }
}

}  // namespace

std::pair<Channel, Channel> Channel::pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(fmt::format("cannot make a socket pair: {}", std::strerror(errno)));
  return {Channel(UniqueFd(ends[0])), Channel(UniqueFd(ends[1]))};
}

Channel::Outcome Channel::send(std::string_view bytes, const std::vector<int>& descriptors,
                               std::optional<std::chrono::milliseconds> limit) {
  if (!socket_ || bytes.size() > max_message_bytes || descriptors.size() > max_descriptors) return Outcome::closed;
  const auto deadline = deadline_after(limit);
  FrameHeader frame{frame_mark, static_cast<std::uint32_t>(bytes.size())};
  std::array<iovec, 2> parts{{{&frame, sizeof frame}, {const_cast<char*>(bytes.data()), bytes.size()}}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(max_descriptors * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
  }
  std::size_t left = sizeof frame + bytes.size();
  while (left > 0) {
    if (!wait_ready(socket_.get(), POLLOUT, deadline)) return close(), Outcome::timeout;
    const ssize_t sent = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) return Outcome::closed;
    left -= static_cast<std::size_t>(sent);
    header.msg_control = nullptr;  // descriptors travel with the first byte
    header.msg_controllen = 0;
    std::size_t skip = static_cast<std::size_t>(sent);
    for (iovec& part : parts) {
      const std::size_t taken = std::min(skip, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + taken;
      part.iov_len -= taken;
      skip -= taken;
    }
  }
  return Outcome::message;
}

Channel::Outcome Channel::receive(Message& into, std::optional<std::chrono::milliseconds> limit) {
  into = {};
  if (!socket_) return Outcome::closed;
  const auto deadline = deadline_after(limit);
  if (spin_.count() > 0) spin_until_readable(socket_.get(), spin_);
  FrameHeader frame{};
  std::size_t filled = 0, wanted = sizeof frame;
  bool have_header = false;
  while (filled < wanted) {
    if (!wait_ready(socket_.get(), POLLIN, deadline)) return Outcome::timeout;
    char* target = have_header ? into.bytes.data() : reinterpret_cast<char*>(&frame);
    iovec part{target + filled, wanted - filled};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(max_descriptors * sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return close(), Outcome::closed;
    take_descriptors(header, into.descriptors);
    filled += static_cast<std::size_t>(got);
    if (!have_header && filled == wanted) {
      if (frame.mark != frame_mark || frame.bytes > max_message_bytes) return close(), Outcome::closed;
      have_header = true;
      into.bytes.resize(frame.bytes);
      filled = 0;
      wanted = frame.bytes;
    }
  }
  return Outcome::message;
}

}  // namespace cudal1
