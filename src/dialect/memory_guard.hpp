// A solution may take memory as it likes, up to a limit: who keeps it in sight, and what is said when it went too far.
#pragma once

#include <cstdint>
#include <optional>

#include "dialect/process_watch.hpp"

namespace cudal1 {

//! Looked at many times a second. A solution's process has no limit that the system would keep for us: the CUDA driver
//! reserves addresses without end, and what is shared or held by a second process counts for no limit of a process.
class MemoryGuard {
 public:
  //! Exit codes of the process that ended the solution. One that chooses such a code itself only accuses itself.
  enum class Verdict { solution_took_too_much = 97, machine_is_full = 98 };

  MemoryGuard(pid_t solution, std::uint64_t limit_bytes) : solution_(solution), limit_bytes_(limit_bytes) {}

  //! `family` holds the solution and all it started; they are all looked at now and then, the solution every time.
  std::optional<Verdict> look(const ProcessWatch& family);

 private:
  std::uint64_t others_bytes(const ProcessWatch& family) const;

  pid_t solution_;
  std::uint64_t limit_bytes_, others_bytes_ = 0;
  int looks_ = 0;
};

//! Memory of a process that nobody else would need: its own, what it shares in memory, what was swapped out.
std::uint64_t memory_of_process(pid_t process);

}  // namespace cudal1
