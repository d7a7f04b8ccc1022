// Two halfwords or four bytes of a word at once, and the minima and maxima of dynamic programming (DPX).
#pragma once

#include "library.h"

namespace cudal1_vgpu {

CUDAL1_DEVICE int clamped(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

}  // namespace cudal1_vgpu

// `expression` of x, y and z, the parts of a, b and c as int; what it gives is cut off to a part.
#define CUDAL1_BY_PARTS(Part, a, b, c, expression)                                                                  \
  unsigned int result = 0;                                                                                          \
  for (unsigned int at = 0; at < 32; at += 8 * sizeof(Part)) {                                                      \
    const int x = static_cast<Part>((a) >> at), y = static_cast<Part>((b) >> at), z = static_cast<Part>((c) >> at); \
    (void)y, (void)z;                                                                                               \
    result |= (static_cast<unsigned int>(expression) & ((1u << (8 * sizeof(Part))) - 1u)) << at;                    \
  }                                                                                                                 \
  return result;
#define CUDAL1_PARTS_1(name, Part, expression) \
  CUDAL1_DEVICE unsigned int name(unsigned int a) { CUDAL1_BY_PARTS(Part, a, 0u, 0u, expression) }
#define CUDAL1_PARTS_2(name, Part, expression) \
  CUDAL1_DEVICE unsigned int name(unsigned int a, unsigned int b) { CUDAL1_BY_PARTS(Part, a, b, 0u, expression) }
#define CUDAL1_PARTS_3(name, Part, expression)                                      \
  CUDAL1_DEVICE unsigned int name(unsigned int a, unsigned int b, unsigned int c) { \
    CUDAL1_BY_PARTS(Part, a, b, c, expression)                                      \
  }

// A comparison gives all ones (cmp) or one (set).
#define CUDAL1_PARTS_COMPARED(name, Part, operation)         \
  CUDAL1_PARTS_2(__vcmp##name, Part, x operation y ? -1 : 0) \
  CUDAL1_PARTS_2(__vset##name, Part, x operation y ? 1 : 0)

// A sum of differences is one number, not one for each part.
#define CUDAL1_PARTS_SAD(name, Part)                                       \
  CUDAL1_DEVICE unsigned int name(unsigned int a, unsigned int b) {        \
    unsigned int sum = 0;                                                  \
    for (unsigned int at = 0; at < 32; at += 8 * sizeof(Part))             \
      sum += abs(static_cast<Part>(a >> at) - static_cast<Part>(b >> at)); \
    return sum;                                                            \
  }

#define CUDAL1_VIDEO(n, Signed, Unsigned, low, high, most)                     \
  CUDAL1_PARTS_1(__vabs##n, Signed, abs(x))                                    \
  CUDAL1_PARTS_1(__vabsss##n, Signed, cudal1_vgpu::clamped(abs(x), low, high)) \
  CUDAL1_PARTS_1(__vneg##n, Signed, -x)                                        \
  CUDAL1_PARTS_1(__vnegss##n, Signed, cudal1_vgpu::clamped(-x, low, high))     \
  CUDAL1_PARTS_2(__vadd##n, Unsigned, x + y)                                   \
  CUDAL1_PARTS_2(__vaddss##n, Signed, cudal1_vgpu::clamped(x + y, low, high))  \
  CUDAL1_PARTS_2(__vaddus##n, Unsigned, cudal1_vgpu::clamped(x + y, 0, most))  \
  CUDAL1_PARTS_2(__vsub##n, Unsigned, x - y)                                   \
  CUDAL1_PARTS_2(__vsubss##n, Signed, cudal1_vgpu::clamped(x - y, low, high))  \
  CUDAL1_PARTS_2(__vsubus##n, Unsigned, cudal1_vgpu::clamped(x - y, 0, most))  \
  CUDAL1_PARTS_2(__vabsdiffs##n, Signed, abs(x - y))                           \
  CUDAL1_PARTS_2(__vabsdiffu##n, Unsigned, abs(x - y))                         \
  CUDAL1_PARTS_2(__vavgs##n, Signed, (x + y + 1) >> 1)                         \
  CUDAL1_PARTS_2(__vavgu##n, Unsigned, (x + y + 1) >> 1)                       \
  CUDAL1_PARTS_2(__vhaddu##n, Unsigned, (x + y) >> 1)                          \
  CUDAL1_PARTS_2(__vmaxs##n, Signed, x > y ? x : y)                            \
  CUDAL1_PARTS_2(__vmaxu##n, Unsigned, x > y ? x : y)                          \
  CUDAL1_PARTS_2(__vmins##n, Signed, x < y ? x : y)                            \
  CUDAL1_PARTS_2(__vminu##n, Unsigned, x < y ? x : y)                          \
  CUDAL1_PARTS_SAD(__vsads##n, Signed)                                         \
  CUDAL1_PARTS_SAD(__vsadu##n, Unsigned)                                       \
  CUDAL1_PARTS_COMPARED(eq##n, Unsigned, ==)                                   \
  CUDAL1_PARTS_COMPARED(ne##n, Unsigned, !=)                                   \
  CUDAL1_PARTS_COMPARED(ges##n, Signed, >=)                                    \
  CUDAL1_PARTS_COMPARED(geu##n, Unsigned, >=)                                  \
  CUDAL1_PARTS_COMPARED(gts##n, Signed, >)                                     \
  CUDAL1_PARTS_COMPARED(gtu##n, Unsigned, >)                                   \
  CUDAL1_PARTS_COMPARED(les##n, Signed, <=)                                    \
  CUDAL1_PARTS_COMPARED(leu##n, Unsigned, <=)                                  \
  CUDAL1_PARTS_COMPARED(lts##n, Signed, <)                                     \
  CUDAL1_PARTS_COMPARED(ltu##n, Unsigned, <)
CUDAL1_VIDEO(2, short, unsigned short, -32768, 32767, 65535)
CUDAL1_VIDEO(4, signed char, unsigned char, -128, 127, 255)
#undef CUDAL1_VIDEO
#undef CUDAL1_PARTS_SAD
#undef CUDAL1_PARTS_COMPARED
#undef CUDAL1_PARTS_1

// --- DPX: sums wrap around, relu means no less than zero
// ---------------------------------------------------------------

#define CUDAL1_DPX_WORDS(T, suffix, extreme)                                                        \
  CUDAL1_DEVICE T __viadd##extreme##_##suffix(T a, T b, T c) {                                      \
    return extreme(static_cast<T>(static_cast<unsigned int>(a) + static_cast<unsigned int>(b)), c); \
  }                                                                                                 \
  CUDAL1_DEVICE T __vi##extreme##3_##suffix(T a, T b, T c) { return extreme(extreme(a, b), c); }    \
  CUDAL1_DEVICE T __vib##extreme##_##suffix(T a, T b, bool* first_taken) {                          \
    const T taken = extreme(a, b);                                                                  \
    *first_taken = taken == a;                                                                      \
    return taken;                                                                                   \
  }
#define CUDAL1_DPX_HALFWORDS(Part, suffix, extreme)                                                             \
  CUDAL1_PARTS_3(__viadd##extreme##_##suffix, Part, extreme(static_cast<int>(static_cast<Part>(x + y)), z))     \
  CUDAL1_PARTS_3(__vi##extreme##3_##suffix, Part, extreme(extreme(x, y), z))                                    \
  CUDAL1_DEVICE unsigned int __vib##extreme##_##suffix(unsigned int a, unsigned int b, bool* high, bool* low) { \
    const Part a_low = static_cast<Part>(a), b_low = static_cast<Part>(b);                                      \
    const Part a_high = static_cast<Part>(a >> 16), b_high = static_cast<Part>(b >> 16);                        \
    *low = extreme(a_low, b_low) == a_low;                                                                      \
    *high = extreme(a_high, b_high) == a_high;                                                                  \
    CUDAL1_BY_PARTS(Part, a, b, 0u, extreme(x, y))                                                              \
  }
// The signed ones also with a floor of zero.
#define CUDAL1_DPX_RELU(extreme)                                                                                     \
  CUDAL1_DEVICE int __viadd##extreme##_s32_relu(int a, int b, int c) {                                               \
    return max(__viadd##extreme##_s32(a, b, c), 0);                                                                  \
  }                                                                                                                  \
  CUDAL1_DEVICE int __vi##extreme##3_s32_relu(int a, int b, int c) { return max(__vi##extreme##3_s32(a, b, c), 0); } \
  CUDAL1_DEVICE int __vi##extreme##_s32_relu(int a, int b) { return max(extreme(a, b), 0); }                         \
  CUDAL1_PARTS_3(__viadd##extreme##_s16x2_relu, short,                                                               \
                 max(extreme(static_cast<int>(static_cast<short>(x + y)), z), 0))                                    \
  CUDAL1_PARTS_3(__vi##extreme##3_s16x2_relu, short, max(extreme(extreme(x, y), z), 0))                              \
  CUDAL1_PARTS_2(__vi##extreme##_s16x2_relu, short, max(extreme(x, y), 0))
#define CUDAL1_DPX(extreme)                            \
  CUDAL1_DPX_WORDS(int, s32, extreme)                  \
  CUDAL1_DPX_WORDS(unsigned int, u32, extreme)         \
  CUDAL1_DPX_HALFWORDS(short, s16x2, extreme)          \
  CUDAL1_DPX_HALFWORDS(unsigned short, u16x2, extreme) \
  CUDAL1_DPX_RELU(extreme)
CUDAL1_DPX(max)
CUDAL1_DPX(min)
#undef CUDAL1_DPX
#undef CUDAL1_DPX_WORDS
#undef CUDAL1_DPX_HALFWORDS
#undef CUDAL1_DPX_RELU
#undef CUDAL1_PARTS_2
#undef CUDAL1_PARTS_3
#undef CUDAL1_BY_PARTS
