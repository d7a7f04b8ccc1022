// Reads of shared, local and scratch memory where nothing was written.
#pragma once

#include "device/vgpu/checks/byte_marks.hpp"
#include "device/vgpu/checks/finding.hpp"
#include "device/vgpu/checks/scratch_marks.hpp"

namespace cudal1::vgpu {

//! Of one block. A read is judged when it happens, element by element: one that nobody wrote is a finding, used or not.
//! One that was written in part is not: that is how structures with padding are copied. An atomic reads and writes.
//! Throws KernelFault.
class UninitialisedReads {
 public:
  explicit UninitialisedReads(const BlockPlace& block);

  void shared(const WarpAccess& access);
  void local(const WarpAccess& access);
  void global(const WarpAccess& access);

 private:
  bool shared_together(const WarpAccess& access);
  bool reads_what_was_written(const WarpAccess& access) const;
  void shared_lane(const WarpAccess& access, int lane);
  void local_lane(const WarpAccess& access, int lane);
  void global_lane(const WarpAccess& access, int lane);
  ScratchMarks::Range* range_at(std::uint64_t address);
  [[noreturn]] void fail(const WarpAccess& access, int lane, const std::string& where, const char* advice = "") const;

  const BlockPlace& block_;
  std::uint64_t local_stride_;  // bytes from one thread's local memory to the next one's
  ByteMarks shared_, local_;
  ScratchMarks::Range* last_range_ = nullptr;
};

}  // namespace cudal1::vgpu
