// Work on many tasks at once, as far as the machine's memory goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace cudal1 {

struct PoolLimits {
  int jobs = 1;                     //!< at once, at most
  std::uint64_t bytes_per_job = 0;  //!< a further job begins only while that much memory is free
  //! Whether there is room for this one, which then begins; of those that wait, the first for which there is. Asked by
  //! one thread at a time, and again and again. Empty: there is.
  std::function<bool(std::size_t job)> may_begin = {};
};

enum class JobEnd {
  done,
  again,            //!< before all others, as soon as it may begin
  short_of_memory,  //!< try again when nothing else runs
};

//! Calls `work` for every number below `count`, from several threads, and once more, alone, for those that were short
//! of memory. `work` must not throw.
void run_jobs(std::size_t count, const PoolLimits& limits, const std::function<JobEnd(std::size_t job)>& work);

//! Whether a message of an allocator, of a CUDA library, of Python or about a killed process says so.
bool says_short_of_memory(const std::string& message);

}  // namespace cudal1
