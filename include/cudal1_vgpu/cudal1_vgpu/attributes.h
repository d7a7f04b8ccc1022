// The words that CUDA adds to C++, for clang without a CUDA toolkit.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 12000

// Functions of these headers are part of the line that calls them: `nodebug` gives their instructions its place.
#define CUDAL1_DEVICE static __inline__ __attribute__((device, always_inline, nodebug))
#define CUDAL1_BOTH static __inline__ constexpr __attribute__((host, device, always_inline, nodebug))
#define CUDAL1_MEMBER __inline__ __attribute__((device, always_inline, nodebug))

typedef decltype(sizeof(0)) size_t;
typedef decltype((char*)nullptr - (char*)nullptr) ptrdiff_t;
namespace std {
using ::ptrdiff_t;
using ::size_t;
using nullptr_t = decltype(nullptr);
}  // namespace std

// nvcc takes alignas also after other words of a declaration (__shared__ alignas(16) float s[4]), clang does not; as an
// attribute it may stand anywhere. What is in the parentheses is a number or types: int(16) is a number, int(float4)
// the type of a function.
namespace cudal1_vgpu {
template <class Function>
struct AlignmentOf;
template <>
struct AlignmentOf<int()> {
  static constexpr size_t value = 1;
};
template <class T, class... Rest>
struct AlignmentOf<int(T, Rest...)> {
  static constexpr size_t rest = AlignmentOf<int(Rest...)>::value;
  static constexpr size_t value = alignof(T) > rest ? alignof(T) : rest;
};
template <class Function>
constexpr size_t alignment() {
  return AlignmentOf<Function>::value;
}
template <int n>
constexpr size_t alignment() {
  return n == 0 ? 1 : n;
}
}  // namespace cudal1_vgpu
#define alignas(...) __attribute__((aligned(cudal1_vgpu::alignment<int(__VA_ARGS__)>())))

extern "C" __attribute__((device, noreturn)) void __assertfail(const char* condition, const char* file, unsigned line,
                                                               const char* function, size_t character_bytes);
#ifdef CUDAL1_DEBUG
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
#else
#define assert(condition) ((void)0)  // as with NDEBUG: the judge checks results, a program's asserts are its author's
#endif

extern "C" __attribute__((device)) int printf(const char*, ...);
extern "C" __attribute__((device)) void* malloc(size_t);
extern "C" __attribute__((device)) void free(void*);
