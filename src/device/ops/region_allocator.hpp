#pragma once

#include <cstddef>
#include <map>

namespace cudal1 {

//! Hands out pieces of one region, best fit, neighbours merged when freed. All library memory of a runner comes from
//! here, that is from the judge's arena, so it is poisoned like everything else.
class RegionAllocator {
 public:
  static constexpr std::size_t alignment = 512;  //!< as PyTorch's own allocator

  void reset(std::byte* base, std::size_t bytes);
  //! Null when there is no room.
  void* allocate(std::size_t bytes);
  void free(void* address);
  std::size_t in_use() const { return in_use_; }

 private:
  std::map<std::byte*, std::size_t> free_, used_;  // address -> bytes
  std::size_t in_use_ = 0;
};

}  // namespace cudal1
