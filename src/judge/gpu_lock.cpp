#include "judge/gpu_lock.hpp"

#include <fmt/format.h>

namespace cudal1 {

// Not below TMPDIR, which differs between users: the lock must be the same files for everybody.
GpuLock::GpuLock(const std::string& gpu_id, const std::filesystem::path& folder)
    : lock_(folder / fmt::format("cudal1-gpu-{}.lock", gpu_id)),
      turnstile_(folder / fmt::format("cudal1-gpu-{}.turnstile", gpu_id)),
      ledger_(GpuLedger::of_environment()) {}

GpuLock::Guard GpuLock::share(GpuUse use) const {
  const UniqueFd passing = turnstile_.alone();  // nobody measures or waits for it then, so the lock is there at once
  UniqueFd file = lock_.share();
  return {GpuTurnRecord(ledger_, use), std::move(file)};
}

GpuLock::Guard GpuLock::alone() const {
  UniqueFd turn = turnstile_.share();  // from now on nobody comes to share; those who do run out
  UniqueFd file = lock_.alone();
  return {GpuTurnRecord(ledger_, GpuUse::measurement), std::move(file), std::move(turn)};
}

}  // namespace cudal1
