// Shared memory that cp.async still has to fill.
#pragma once

#include <vector>

#include "device/vgpu/checks/finding.hpp"

namespace cudal1::vgpu {

//! Of one block. Until the thread that asked for a copy has waited for it nobody may touch what it fills, whatever
//! barriers come between. Throws KernelFault.
class CopiesInFlight {
 public:
  explicit CopiesInFlight(const BlockPlace& block) : block_(block) {}

  void begin(const WarpAccess& copy);
  void end(const WarpAccess& copy);
  void access(const WarpAccess& access) const {
    if (words_in_flight_ > 0) look_at(access);
  }

 private:
  static constexpr std::uint64_t word_bytes = 4;  // no copy is smaller
  struct Copier {
    const ptx::Location* at = nullptr;  // null: nobody
    std::uint32_t thread = 0;
  };

  void look_at(const WarpAccess& access) const;
  [[noreturn]] void fail(const WarpAccess& access, int lane, std::uint64_t word) const;

  const BlockPlace& block_;
  std::uint64_t words_in_flight_ = 0;
  std::vector<Copier> copiers_;  // by word; empty until there is a copy
};

}  // namespace cudal1::vgpu
