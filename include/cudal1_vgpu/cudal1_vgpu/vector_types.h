// float2, int4 and their kin, with make_… functions.
#pragma once

#include "attributes.h"

#define CUDAL1_VECTOR_TYPES(T, name, align2, align4)                              \
  struct name##1 {                                                                \
    T x;                                                                          \
  };                                                                              \
  struct alignas(align2) name##2 {                                                \
    T x, y;                                                                       \
  };                                                                              \
  struct name##3 {                                                                \
    T x, y, z;                                                                    \
  };                                                                              \
  struct alignas(align4) name##4 {                                                \
    T x, y, z, w;                                                                 \
  };                                                                              \
  CUDAL1_BOTH name##1 make_##name##1(T x) { return name##1 {x}; }                 \
  CUDAL1_BOTH name##2 make_##name##2(T x, T y) { return name##2 {x, y}; }         \
  CUDAL1_BOTH name##3 make_##name##3(T x, T y, T z) { return name##3 {x, y, z}; } \
  CUDAL1_BOTH name##4 make_##name##4(T x, T y, T z, T w) { return name##4 {x, y, z, w}; }

CUDAL1_VECTOR_TYPES(signed char, char, 2, 4)
CUDAL1_VECTOR_TYPES(unsigned char, uchar, 2, 4)
CUDAL1_VECTOR_TYPES(short, short, 4, 8)
CUDAL1_VECTOR_TYPES(unsigned short, ushort, 4, 8)
CUDAL1_VECTOR_TYPES(int, int, 8, 16)
CUDAL1_VECTOR_TYPES(unsigned int, uint, 8, 16)
CUDAL1_VECTOR_TYPES(long, long, 16, 16)
CUDAL1_VECTOR_TYPES(unsigned long, ulong, 16, 16)
CUDAL1_VECTOR_TYPES(long long, longlong, 16, 16)
CUDAL1_VECTOR_TYPES(unsigned long long, ulonglong, 16, 16)
CUDAL1_VECTOR_TYPES(float, float, 8, 16)
CUDAL1_VECTOR_TYPES(double, double, 16, 16)
#undef CUDAL1_VECTOR_TYPES

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};
