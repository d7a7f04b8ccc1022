// The short vectors of CUDA with their alignments: int4, float2, …, and dim3.
#pragma once

#include "kernel_interface.hpp"

using uint3 = cudal1_host::Index3;
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

#define CUDAL1_HOST_VECTOR_1(T, name) \
  struct name##1 {                    \
    T x;                              \
  };                                  \
  inline name##1 make_##name##1(T x) { return {x}; }
#define CUDAL1_HOST_VECTOR_2(T, name, alignment) \
  struct alignas(alignment) name##2 {            \
    T x, y;                                      \
  };                                             \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }
#define CUDAL1_HOST_VECTOR_3(T, name) \
  struct name##3 {                    \
    T x, y, z;                        \
  };                                  \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
#define CUDAL1_HOST_VECTOR_4(T, name, alignment) \
  struct alignas(alignment) name##4 {            \
    T x, y, z, w;                                \
  };                                             \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define CUDAL1_HOST_VECTORS(T, name, alignment_2, alignment_4) \
  CUDAL1_HOST_VECTOR_1(T, name)                                \
  CUDAL1_HOST_VECTOR_2(T, name, alignment_2)                   \
  CUDAL1_HOST_VECTOR_4(T, name, alignment_4)

CUDAL1_HOST_VECTORS(signed char, char, 2, 4)
CUDAL1_HOST_VECTORS(unsigned char, uchar, 2, 4)
CUDAL1_HOST_VECTORS(short, short, 4, 8)
CUDAL1_HOST_VECTORS(unsigned short, ushort, 4, 8)
CUDAL1_HOST_VECTORS(int, int, 8, 16)
CUDAL1_HOST_VECTORS(unsigned, uint, 8, 16)
CUDAL1_HOST_VECTORS(long long, longlong, 16, 16)
CUDAL1_HOST_VECTORS(unsigned long long, ulonglong, 16, 16)
CUDAL1_HOST_VECTORS(float, float, 8, 16)
CUDAL1_HOST_VECTORS(double, double, 16, 16)
CUDAL1_HOST_VECTOR_3(signed char, char)
CUDAL1_HOST_VECTOR_3(unsigned char, uchar)
CUDAL1_HOST_VECTOR_3(short, short)
CUDAL1_HOST_VECTOR_3(unsigned short, ushort)
CUDAL1_HOST_VECTOR_3(int, int)
CUDAL1_HOST_VECTOR_3(float, float)
CUDAL1_HOST_VECTOR_3(double, double)
