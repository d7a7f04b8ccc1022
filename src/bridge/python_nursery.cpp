#include "bridge/python_nursery.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "bridge/bridge_process.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr const char* nursery_variable = "CUDAL1_PYTHON_NURSERY";
constexpr const char* threads_variable = "OMP_NUM_THREADS";
constexpr int listening_descriptor = 3;
constexpr int most_waiting = 256;
constexpr std::size_t fewest_programs = 6;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw Error(fmt::format("{}: too long for a socket", path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

UniqueFd make_socket() {
  UniqueFd made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!made) throw Error(fmt::format("cannot make a socket: {}", std::strerror(errno)));
  return made;
}

UniqueFd listening_at(const std::string& path) {
  const sockaddr_un address = address_of(path);
  UniqueFd made = make_socket();
  if (::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(made.get(), most_waiting) != 0)
    throw Error(fmt::format("{}: {}", path, std::strerror(errno)));
  return made;
}

//! "python -m MODULE ARGUMENT…" as the nursery wants it.
json request_of(const ChildOptions& options) {
  json environment = json::object(), descriptors = json::array();
  for (const auto& [name, value] : options.environment) environment[name] = value;
  for (const auto& [ours, theirs] : options.descriptors) descriptors.push_back(theirs);
  return {{"module", options.arguments.at(2)},
          {"arguments", std::vector<std::string>(options.arguments.begin() + 3, options.arguments.end())},
          {"environment", environment},
          {"descriptors", descriptors}};
}

bool send_with_descriptors(int socket, const std::string& message, const ChildOptions& options) {
  std::vector<int> descriptors;
  for (const auto& [ours, theirs] : options.descriptors) descriptors.push_back(ours);
  const std::size_t bytes = descriptors.size() * sizeof(int);
  std::vector<char> control(CMSG_SPACE(bytes));
  iovec text{const_cast<char*>(message.data()), message.size()};
  msghdr whole{};
  whole.msg_iov = &text;
  whole.msg_iovlen = 1;
  if (!descriptors.empty()) {
    whole.msg_control = control.data();
    whole.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&whole);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(header), descriptors.data(), bytes);
  }
  ssize_t sent = -1;
  do sent = ::sendmsg(socket, &whole, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(message.size());
}

std::string received(int socket) {
  char bytes[64];
  ssize_t count = -1;
  do count = ::recv(socket, bytes, sizeof bytes, 0);
  while (count < 0 && errno == EINTR);
  return std::string(bytes, count > 0 ? static_cast<std::size_t>(count) : 0);
}

//! Nothing where there is no nursery, or it has gone.
std::optional<ChildProcess> forked(const ChildOptions& options) {
  const char* path = std::getenv(nursery_variable);
  if (!path || !*path) return std::nullopt;
  const sockaddr_un address = address_of(path);
  UniqueFd connection = make_socket();
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return std::nullopt;
  const std::string message = request_of(options).dump(-1, ' ', false, json::error_handler_t::replace);
  if (!send_with_descriptors(connection.get(), message, options)) return std::nullopt;
  const std::string process = received(connection.get());
  if (process.empty()) return std::nullopt;
  return ChildProcess::kept_by(std::move(connection), static_cast<pid_t>(std::stol(process)));
}

}  // namespace

PythonNursery::PythonNursery(int threads) {
  const std::string path = (folder_.path() / "nursery").string();
  const UniqueFd listening = listening_at(path);
  const UniqueFd nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ChildOptions options = bridge_child("cudal1_bridge.nursery", {"--threads", std::to_string(threads)});
  options.environment.emplace_back("TORCHINDUCTOR_COMPILE_THREADS", "1");  // a pool of compilers cannot be forked
  options.descriptors = {
      {nowhere.get(), 0}, {nowhere.get(), 1}, {nowhere.get(), 2}, {listening.get(), listening_descriptor}};
  process_ = ChildProcess::start(options);
  ::setenv(nursery_variable, path.c_str(), 1);
  // Also of what starts by itself, if it must; unless the user has said something else.
  sets_threads_ = threads > 0 && !std::getenv(threads_variable);
  if (sets_threads_) ::setenv(threads_variable, std::to_string(threads).c_str(), 1);
}

PythonNursery::~PythonNursery() {
  ::unsetenv(nursery_variable);
  if (sets_threads_) ::unsetenv(threads_variable);
}

std::unique_ptr<PythonNursery> nursery_for(std::size_t programs, int threads) {
  return programs < fewest_programs ? nullptr : std::make_unique<PythonNursery>(threads);
}

ChildProcess start_bridge_child(const ChildOptions& options) {
  if (auto child = forked(options)) return std::move(*child);
  return ChildProcess::start(options);
}

}  // namespace cudal1
