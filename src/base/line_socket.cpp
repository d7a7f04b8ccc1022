#include "base/line_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {

LineSocket::LineSocket(UniqueFd& theirs) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) throw Error("cannot make a socket pair");
  socket_.reset(sockets[0]);
  theirs.reset(sockets[1]);
}

LineSocket LineSocket::at(UniqueFd socket) {
  LineSocket made;
  made.socket_ = std::move(socket);
  return made;
}

LineSocket LineSocket::taken_from_standard_input() {
  UniqueFd socket(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::dup2(nothing.get(), STDIN_FILENO);
  return at(std::move(socket));
}

void LineSocket::send(const std::string& line) const {
  const std::string bytes = line + '\n';
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

LineSocket::Heard LineSocket::read(std::string& line, std::size_t most_bytes,
                                   std::chrono::steady_clock::time_point deadline) {
  for (std::size_t looked_at = 0;;) {
    if (const std::size_t end = pending_.find('\n', looked_at); end != std::string::npos) {
      line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return Heard::line;
    }
    looked_at = pending_.size();
    if (looked_at > most_bytes) return Heard::too_long;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd waiting{socket_.get(), POLLIN, 0};
    const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left, 1 << 30))) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Heard::too_late;
    std::array<char, 65536> bytes;
    const ssize_t count = ::read(socket_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Heard::end;
    pending_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace cudal1
