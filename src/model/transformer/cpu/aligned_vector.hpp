// Vectors that begin at a cache line: a load of 64 bytes from anywhere else touches two lines and takes twice as long.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace cudal1 {

constexpr std::size_t cache_line_bytes = 64;

template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class Other>
  CacheLineAllocator(const CacheLineAllocator<Other>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(cache_line_bytes)));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, std::align_val_t(cache_line_bytes)); }
  bool operator==(const CacheLineAllocator&) const { return true; }
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace cudal1
