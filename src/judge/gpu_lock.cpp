#include "judge/gpu_lock.hpp"

#include <fmt/format.h>

namespace cudal1 {

// Not below TMPDIR, which differs between users: the lock must be the same files for everybody.
GpuLock::GpuLock(const std::string& gpu_id, const std::filesystem::path& folder)
    : lock_(folder / fmt::format("cudal1-gpu-{}.lock", gpu_id)),
      turnstile_(folder / fmt::format("cudal1-gpu-{}.turnstile", gpu_id)) {}

// Both let go of the turnstile as soon as they hold the lock.

GpuLock::Guard GpuLock::share() const {
  const UniqueFd turn = turnstile_.share();
  return Guard(lock_.share());
}

GpuLock::Guard GpuLock::alone() const {
  const UniqueFd turn = turnstile_.alone();  // nobody comes through any more; those who share run out
  return Guard(lock_.alone());
}

}  // namespace cudal1
