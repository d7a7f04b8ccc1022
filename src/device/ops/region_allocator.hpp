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
  //! From now on a piece that is freed goes only to the stream that had it: work of another one may run at the same
  //! time as what used it last. `false`: no longer, and all that was kept is free.
  void keep_apart(bool apart);
  //! Null when there is no room. `stream`: whose work will use it.
  void* allocate(std::size_t bytes, const void* stream = nullptr);
  void free(void* address, const void* stream = nullptr);
  std::size_t in_use() const { return in_use_; }

 private:
  std::byte* choose_place(std::size_t wanted);
  void* kept_for(const void* stream, std::size_t wanted);
  std::map<std::byte*, std::size_t> free_, used_;  // address -> bytes
  std::size_t in_use_ = 0;
  std::uint64_t variation_ = 0;
  std::size_t roaming_ = 0;
  bool apart_ = false;
  std::map<const void*, std::multimap<std::size_t, std::byte*>> kept_;  // by stream and bytes; still in `used_`
};

}  // namespace cudal1
