#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace cudal1 {

//! Hands out pieces of one region, neighbours merged when freed. All library memory of a runner comes from here, that
//! is from the judge's arena, so it is poisoned like everything else.
class RegionAllocator {
 public:
  static constexpr std::size_t alignment = 512;  //!< as PyTorch's own allocator

  void reset(std::byte* base, std::size_t bytes);
  //! From now on pieces lie elsewhere: anywhere within the first `roaming` bytes of places where they fit. How fast
  //! memory is depends a little on where it lies, and neither reference nor candidate may have the better place for
  //! good.
  void vary(std::uint64_t seed, std::size_t roaming);
  //! Null when there is no room.
  void* allocate(std::size_t bytes);
  void free(void* address);
  std::size_t in_use() const { return in_use_; }

 private:
  std::byte* choose_place(std::size_t wanted);
  std::map<std::byte*, std::size_t> free_, used_;  // address -> bytes
  std::size_t in_use_ = 0;
  std::uint64_t variation_ = 0;
  std::size_t roaming_ = 0;
};

}  // namespace cudal1
