// Lets a host C++20 compiler take program texts. Included before the text, so every header of CUDA that a program
// asks for by habit is an empty forwarder to this one.
#pragma once

// Standard headers first: some of them use names that become macros below.
#include <array>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <utility>

#include "cudal1_host/half_types.hpp"
#include "cudal1_host/kernel_interface.hpp"
#include "cudal1_host/math.hpp"
#include "cudal1_host/threads.hpp"
#include "cudal1_host/vector_types.hpp"

#define __global__
#define __device__
#define __host__
#define __constant__ static
// One per block, and blocks run one after the other on one thread. Thread-local, because that puts all shared variables
// of a program, and nothing else, into one piece of memory that the device can poison.
#define __shared__ static thread_local
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define alignas(bytes) __attribute__((aligned(bytes)))  // CUDA's compilers take it after `__shared__` as well
#define __builtin_assume(condition)
#define __assume(condition)
#undef assert
#define assert(condition) ((condition) ? void() : __trap())
#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_PI_F 3.141592654f

namespace cudal1_host {

template <class... Parameters, std::size_t... Index>
void invoke_with(void (*kernel)(Parameters...), void* const* arguments, std::index_sequence<Index...>) {
  dynamic_shared_pointer = current().dynamic_shared;
  kernel(*static_cast<std::remove_cv_t<Parameters>*>(arguments[Index])...);
}

template <class... Parameters>
void invoke(void (*kernel)(Parameters...), void* const* arguments) {
  invoke_with(kernel, arguments, std::index_sequence_for<Parameters...>());
}

template <class... Parameters>
constexpr int count_parameters(void (*)(Parameters...)) {
  return sizeof...(Parameters);
}

//! The sizes of a kernel's parameters, with a zero at the end.
template <class... Parameters>
constexpr std::array<std::size_t, sizeof...(Parameters) + 1> parameter_sizes(void (*)(Parameters...)) {
  return {sizeof(Parameters)..., 0};
}

}  // namespace cudal1_host

#define CUDAL1_HOST_VISIBLE extern "C" __attribute__((visibility("default")))

//! Exports cudal1_kernel_<number>. The kernel comes last, for its template arguments may have commas.
#define CUDAL1_HOST_KERNEL(number, ...)                                                     \
  static constexpr auto cudal1_sizes_##number = cudal1_host::parameter_sizes(&__VA_ARGS__); \
  CUDAL1_HOST_VISIBLE const cudal1_host::Kernel cudal1_kernel_##number{                     \
      [](void* const* arguments) { cudal1_host::invoke(&__VA_ARGS__, arguments); },         \
      cudal1_host::count_parameters(&__VA_ARGS__), cudal1_sizes_##number.data()};

CUDAL1_HOST_VISIBLE void cudal1_connect(const cudal1_host::Services* services) {
  cudal1_host::services = services;
  static thread_local char anchor;
  *const_cast<volatile char*>(&anchor) = 0;  // the memory of thread-local variables exists from the first access on
}
