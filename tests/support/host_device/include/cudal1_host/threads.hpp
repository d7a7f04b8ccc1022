// Who a thread is, barriers, warp operations and atomics.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernel_interface.hpp"
#include "vector_types.hpp"

namespace cudal1_host {

inline const Services* services = nullptr;      //!< set by the device after loading
inline void* dynamic_shared_pointer = nullptr;  //!< what `extern __shared__` names refer to

inline ThreadState& current() { return *services->current; }

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t), "a warp operation moves at most 8 bytes");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
T read_lane(unsigned mask, T value, int source_lane) {
  return from_bits<T>(services->warp(mask, to_bits(value), source_lane).value);
}

inline int first_lane_of_segment(int width) { return current().lane & ~(width - 1); }
inline int lane_or_self(int lane, bool inside) { return inside ? lane : current().lane; }

}  // namespace cudal1_host

#define threadIdx (::cudal1_host::current().thread)
#define blockIdx (::cudal1_host::current().block)
#define blockDim (::dim3(::cudal1_host::current().block_dim))
#define gridDim (::dim3(::cudal1_host::current().grid_dim))
inline constexpr int warpSize = 32;

inline void __syncthreads() { cudal1_host::services->barrier(0); }
inline int __syncthreads_count(int predicate) { return cudal1_host::services->barrier(predicate).nonzero; }
inline int __syncthreads_or(int predicate) { return cudal1_host::services->barrier(predicate).nonzero != 0; }
inline int __syncthreads_and(int predicate) {
  const auto result = cudal1_host::services->barrier(predicate);
  return result.nonzero == result.arrived;
}
inline void __syncwarp(unsigned mask = 0xffffffffu) { cudal1_host::services->warp(mask, 0, -1); }
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return cudal1_host::services->warp(mask, predicate != 0, -1).ballot;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) {
  const auto result = cudal1_host::services->warp(mask, predicate != 0, -1);
  return result.ballot == result.arrived;
}
__attribute__((noinline)) inline unsigned __activemask() {
  return cudal1_host::services->active_lanes(__builtin_return_address(0));
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source_lane, int width = 32) {
  return cudal1_host::read_lane(mask, value, cudal1_host::first_lane_of_segment(width) + (source_lane & (width - 1)));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int source = cudal1_host::current().lane - static_cast<int>(delta);
  return cudal1_host::read_lane(mask, value,
                                cudal1_host::lane_or_self(source, source >= cudal1_host::first_lane_of_segment(width)));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int source = cudal1_host::current().lane + static_cast<int>(delta);
  return cudal1_host::read_lane(
      mask, value, cudal1_host::lane_or_self(source, source < cudal1_host::first_lane_of_segment(width) + width));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  const int source = cudal1_host::current().lane ^ lane_mask;
  return cudal1_host::read_lane(
      mask, value, cudal1_host::lane_or_self(source, source < cudal1_host::first_lane_of_segment(width) + width));
}

namespace cudal1_host {

//! Combines the values of all lanes in the mask, lowest lane first.
template <class T, class Combine>
T reduce_lanes(unsigned mask, T value, Combine combine) {
  T total{};
  bool first = true;
  for (int lane = 0; lane < warpSize; ++lane) {
    const T other = read_lane(mask, value, lane);
    if ((mask >> lane & 1) == 0) continue;
    total = first ? other : combine(total, other);
    first = false;
  }
  return total;
}

}  // namespace cudal1_host

template <class T>
T __reduce_add_sync(unsigned mask, T value) {
  return cudal1_host::reduce_lanes(mask, value, [](T a, T b) { return a + b; });
}
template <class T>
T __reduce_max_sync(unsigned mask, T value) {
  return cudal1_host::reduce_lanes(mask, value, [](T a, T b) { return a > b ? a : b; });
}
template <class T>
T __reduce_min_sync(unsigned mask, T value) {
  return cudal1_host::reduce_lanes(mask, value, [](T a, T b) { return a < b ? a : b; });
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
  unsigned equal = 0;
  for (int lane = 0; lane < warpSize; ++lane) {
    const T other = cudal1_host::read_lane(mask, value, lane);
    if ((mask >> lane & 1) != 0 && other == value) equal |= 1u << lane;
  }
  return equal;
}

inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { cudal1_host::services->yield(); }
[[noreturn]] inline void __trap() {
  cudal1_host::services->trap();
  __builtin_unreachable();
}

// Only one thread runs at a time, so plain reads and writes are atomic. The operand's type is not deduced: it
// converts to the type of the memory, as with CUDA's overloads.
#define CUDAL1_HOST_ATOMIC(name, expression)                     \
  template <class T>                                             \
  T name(T* address, std::type_identity_t<T> operand) {          \
    const T old = *address;                                      \
    *address = static_cast<T>(expression);                       \
    return old;                                                  \
  }                                                              \
  template <class T>                                             \
  T name##_block(T* address, std::type_identity_t<T> operand) {  \
    return name(address, operand);                               \
  }                                                              \
  template <class T>                                             \
  T name##_system(T* address, std::type_identity_t<T> operand) { \
    return name(address, operand);                               \
  }
CUDAL1_HOST_ATOMIC(atomicAdd, old + operand)
CUDAL1_HOST_ATOMIC(atomicSub, old - operand)
CUDAL1_HOST_ATOMIC(atomicMax, old > operand ? old : operand)
CUDAL1_HOST_ATOMIC(atomicMin, old < operand ? old : operand)
CUDAL1_HOST_ATOMIC(atomicAnd, old& operand)
CUDAL1_HOST_ATOMIC(atomicOr, old | operand)
CUDAL1_HOST_ATOMIC(atomicXor, old ^ operand)
CUDAL1_HOST_ATOMIC(atomicExch, operand)
CUDAL1_HOST_ATOMIC(atomicInc, old >= operand ? T{0} : old + 1)
CUDAL1_HOST_ATOMIC(atomicDec, old == T{0} || old > operand ? operand : old - 1)

template <class T>
T atomicCAS(T* address, std::type_identity_t<T> compare, std::type_identity_t<T> operand) {
  const T old = *address;
  if (std::memcmp(&old, &compare, sizeof old) == 0) *address = operand;
  return old;
}
