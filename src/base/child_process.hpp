#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"

namespace cudal1 {

// Sanitizers reserve terabytes of addresses, so their builds cannot limit them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool addresses_can_be_limited = false;
#else
inline constexpr bool addresses_can_be_limited = true;
#endif

struct ChildLimits {
  std::uint64_t address_space_bytes = 0;  //!< 0: no limit
  std::uint64_t data_bytes = 0;           //!< memory of its own that it can write to; what is only reserved is free
  std::uint64_t cpu_seconds = 0;
  std::uint64_t file_bytes = UINT64_MAX;  //!< RLIMIT_FSIZE
};

struct ChildOptions {
  std::vector<std::string> arguments;                            //!< arguments[0] is the executable's path
  std::vector<std::pair<std::string, std::string>> environment;  //!< the whole environment of the child
  std::vector<std::pair<int, int>> descriptors;                  //!< (ours, the child's number); all others are closed
  ChildLimits limits;
};

//! How a child ended.
struct ChildExit {
  bool exited = false;  //!< else by a signal
  int code = 0;         //!< exit code or signal number
};

//! A child process in a process group of its own that dies with us and is killed, with everything it started,
//! when this object goes.
class ChildProcess {
 public:
  static ChildProcess start(const ChildOptions& options);  //!< throws Error
  //! A child of somebody else, who writes its wait status into `keeper` when it has ended, and ends it, with its group,
  //! when that is closed.
  static ChildProcess kept_by(UniqueFd keeper, pid_t pid);
  ChildProcess() = default;
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  bool running();
  std::optional<ChildExit> wait_for(std::chrono::milliseconds limit);
  ChildExit kill();  //!< SIGKILL to the whole group, then reaps
  //! Of the whole group: it takes no processor time until it may go on.
  void pause() const;
  void end() const;  //!< without waiting for it; kill() has still to be called
  void resume() const;

 private:
  std::optional<ChildExit> reap(bool wait);

  pid_t pid_ = -1;
  UniqueFd keeper_;
  std::optional<ChildExit> exit_;
};

//! The variables every child of ours gets: PATH, HOME, LANG, LD_LIBRARY_PATH and CUDA_*; never keys.
std::vector<std::pair<std::string, std::string>> minimal_environment();

}  // namespace cudal1
