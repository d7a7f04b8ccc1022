#include "judge/gpu_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/result.hpp"

namespace cudal1 {

GpuLock::GpuLock(const std::string& gpu_id)
    : path_(std::filesystem::path("/tmp") / fmt::format("cudal1-gpu-{}.lock", gpu_id)) {
  // Not below TMPDIR, which differs between users: the lock must be the same file for everybody. Other users' files in
  // a sticky folder may refuse O_CREAT, so an existing file is opened first; reading is enough for flock.
  file_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_) {
    file_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0666));
    if (file_) ::fchmod(file_.get(), 0666);
  }
  if (!file_) throw Error(fmt::format("{}: cannot open the GPU's lock: {}", path_.string(), std::strerror(errno)));
}

GpuLock::Guard GpuLock::take(int operation) {
  while (::flock(file_.get(), operation) != 0)
    if (errno != EINTR) throw Error(fmt::format("{}: cannot lock: {}", path_.string(), std::strerror(errno)));
  return Guard(file_.get());
}

GpuLock::Guard GpuLock::share() { return take(LOCK_SH); }
GpuLock::Guard GpuLock::alone() { return take(LOCK_EX); }

GpuLock::Guard::~Guard() {
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

}  // namespace cudal1
