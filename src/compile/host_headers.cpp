#include "compile/host_headers.hpp"

namespace cudal1 {
namespace {

// 64-bit integers are (unsigned) long long, as in libcu++ under NVRTC and as the atomics want them.
constexpr const char* stdint_text = R"(#pragma once
#include <limits.h>
typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
#define INT8_MIN   SCHAR_MIN
#define INT16_MIN  SHRT_MIN
#define INT32_MIN  INT_MIN
#define INT64_MIN  LLONG_MIN
#define INT8_MAX   SCHAR_MAX
#define INT16_MAX  SHRT_MAX
#define INT32_MAX  INT_MAX
#define INT64_MAX  LLONG_MAX
#define UINT8_MAX  UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
}
)";

// Guarded one by one: libcu++ defines some of them itself.
constexpr const char* limits_h_text = R"(#pragma once
#ifndef CHAR_BIT
#define CHAR_BIT 8
#endif
#ifndef SCHAR_MAX
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32767-1)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647-1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L-1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL-1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#endif
)";

constexpr const char* float_text = R"(#pragma once
#ifndef FLT_MAX
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN 1.175494350822287507969e-38f
#define FLT_MAX 3.402823466385288598117e+38f
#define FLT_EPSILON 1.1920928955078125e-7f
#define FLT_TRUE_MIN 1.401298464324817070924e-45f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN 2.22507385850720138309e-308
#define DBL_MAX 1.79769313486231570815e+308
#define DBL_EPSILON 2.2204460492503130808e-16
#endif
)";

constexpr const char* math_text = R"(#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF __int_as_float(0x7f800000)
#endif
#ifndef HUGE_VAL
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
)";

constexpr const char* cmath_text = R"(#pragma once
#include <math.h>
namespace std {
using ::abs; using ::fabs; using ::fmod; using ::remainder; using ::fma; using ::fmax; using ::fmin; using ::fdim;
using ::exp; using ::exp2; using ::expm1; using ::log; using ::log10; using ::log2; using ::log1p;
using ::pow; using ::sqrt; using ::cbrt; using ::hypot;
using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan; using ::atan2;
using ::sinh; using ::cosh; using ::tanh; using ::asinh; using ::acosh; using ::atanh;
using ::erf; using ::erfc; using ::tgamma; using ::lgamma;
using ::ceil; using ::floor; using ::trunc; using ::round; using ::nearbyint; using ::rint; using ::lrint;
using ::llrint; using ::lround; using ::llround; using ::frexp; using ::ldexp; using ::modf; using ::scalbn;
using ::ilogb; using ::logb; using ::nextafter; using ::copysign;
using ::isnan; using ::isinf; using ::isfinite; using ::signbit;
using ::fabsf; using ::fmodf; using ::fmaf; using ::fmaxf; using ::fminf; using ::expf; using ::exp2f; using ::logf;
using ::log2f; using ::log10f; using ::powf; using ::sqrtf; using ::sinf; using ::cosf; using ::tanhf; using ::erff;
using ::ceilf; using ::floorf; using ::truncf; using ::roundf;
}
)";

constexpr const char* algorithm_text = R"(#pragma once
namespace std {
template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __host__ __device__ constexpr const T& clamp(const T& v, const T& low, const T& high) {
  return v < low ? low : high < v ? high : v;
}
#ifndef CUDAL1_STD_SWAP
#define CUDAL1_STD_SWAP
template <class T> __host__ __device__ constexpr void swap(T& a, T& b) { T kept = a; a = b; b = kept; }
#endif
}
)";

constexpr const char* utility_text = R"(#pragma once
namespace std {
#ifndef CUDAL1_STD_SWAP
#define CUDAL1_STD_SWAP
template <class T> __host__ __device__ constexpr void swap(T& a, T& b) { T kept = a; a = b; b = kept; }
#endif
template <class A, class B> struct pair { A first; B second; };
template <class T, T... values> struct integer_sequence {
  static constexpr unsigned long size() { return sizeof...(values); }
};
template <unsigned long... values> using index_sequence = integer_sequence<unsigned long, values...>;
}
)";

constexpr const char* type_traits_text = R"(#pragma once
namespace std {
template <class T, T v> struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  __host__ __device__ constexpr operator T() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool, class A, class> struct conditional { using type = A; };
template <class A, class B> struct conditional<false, A, B> { using type = B; };
template <bool b, class A, class B> using conditional_t = typename conditional<b, A, B>::type;
template <bool, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> struct remove_cv { using type = typename remove_const<typename remove_volatile<T>::type>::type; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class...> using void_t = void;
template <class T> struct is_integral : false_type {};
template <> struct is_integral<bool> : true_type {};
template <> struct is_integral<char> : true_type {};
template <> struct is_integral<signed char> : true_type {};
template <> struct is_integral<unsigned char> : true_type {};
template <> struct is_integral<short> : true_type {};
template <> struct is_integral<unsigned short> : true_type {};
template <> struct is_integral<int> : true_type {};
template <> struct is_integral<unsigned int> : true_type {};
template <> struct is_integral<long> : true_type {};
template <> struct is_integral<unsigned long> : true_type {};
template <> struct is_integral<long long> : true_type {};
template <> struct is_integral<unsigned long long> : true_type {};
template <class T> struct is_floating_point : false_type {};
template <> struct is_floating_point<float> : true_type {};
template <> struct is_floating_point<double> : true_type {};
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
}
)";

constexpr const char* limits_text = R"(#pragma once
#include <limits.h>
#include <float.h>
#include <math.h>
namespace std {
template <class T> struct numeric_limits { static constexpr bool is_specialized = false; };
template <> struct numeric_limits<float> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false;
  static constexpr int digits = 24;
  __host__ __device__ static constexpr float min() { return FLT_MIN; }
  __host__ __device__ static constexpr float max() { return FLT_MAX; }
  __host__ __device__ static constexpr float lowest() { return -FLT_MAX; }
  __host__ __device__ static constexpr float epsilon() { return FLT_EPSILON; }
  __host__ __device__ static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000); }
  __host__ __device__ static constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7fffffff); }
};
template <> struct numeric_limits<double> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false;
  static constexpr int digits = 53;
  __host__ __device__ static constexpr double min() { return DBL_MIN; }
  __host__ __device__ static constexpr double max() { return DBL_MAX; }
  __host__ __device__ static constexpr double lowest() { return -DBL_MAX; }
  __host__ __device__ static constexpr double epsilon() { return DBL_EPSILON; }
  __host__ __device__ static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000LL); }
  __host__ __device__ static constexpr double quiet_NaN() { return __builtin_bit_cast(double, 0x7fffffffffffffffLL); }
};
#define CUDAL1_INTEGER_LIMITS(T, LOW, HIGH, SIGNED)                                 \
  template <> struct numeric_limits<T> {                                            \
    static constexpr bool is_specialized = true, is_signed = SIGNED, is_integer = true; \
    static constexpr int digits = sizeof(T) * 8 - (SIGNED ? 1 : 0);                 \
    __host__ __device__ static constexpr T min() { return LOW; }                    \
    __host__ __device__ static constexpr T max() { return HIGH; }                   \
    __host__ __device__ static constexpr T lowest() { return LOW; }                 \
  };
CUDAL1_INTEGER_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX, true)
CUDAL1_INTEGER_LIMITS(unsigned char, 0, UCHAR_MAX, false)
CUDAL1_INTEGER_LIMITS(short, SHRT_MIN, SHRT_MAX, true)
CUDAL1_INTEGER_LIMITS(unsigned short, 0, USHRT_MAX, false)
CUDAL1_INTEGER_LIMITS(int, INT_MIN, INT_MAX, true)
CUDAL1_INTEGER_LIMITS(unsigned int, 0, UINT_MAX, false)
CUDAL1_INTEGER_LIMITS(long, LONG_MIN, LONG_MAX, true)
CUDAL1_INTEGER_LIMITS(unsigned long, 0, ULONG_MAX, false)
CUDAL1_INTEGER_LIMITS(long long, LLONG_MIN, LLONG_MAX, true)
CUDAL1_INTEGER_LIMITS(unsigned long long, 0, ULLONG_MAX, false)
#undef CUDAL1_INTEGER_LIMITS
}
)";

// The driver API has no use in a program, but kernels take tensor maps as parameters.
constexpr const char* cuda_text = R"(#pragma once
#include <stdint.h>
typedef unsigned long long CUdeviceptr;
typedef struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; } CUtensorMap;
)";

constexpr const char* cstddef_text = R"(#pragma once
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
namespace std { using ::size_t; using ::ptrdiff_t; }
)";

constexpr const char* prelude_text = "#include <stdint.h>\n#include <math.h>\n#include <float.h>\n";
constexpr const char* empty_text = "#pragma once\n";

}  // namespace

const std::map<std::string, std::string>& host_headers() {
  static const std::map<std::string, std::string> headers = {
      {prelude_header_name, prelude_text},
      {"stdint.h", stdint_text},
      {"cstdint", "#include <stdint.h>\n"},
      {"inttypes.h", "#include <stdint.h>\n"},
      {"cinttypes", "#include <stdint.h>\n"},
      {"limits.h", limits_h_text},
      {"climits", "#include <limits.h>\n"},
      {"limits", limits_text},
      {"float.h", float_text},
      {"cfloat", "#include <float.h>\n"},
      {"math.h", math_text},
      {"cmath", cmath_text},
      {"algorithm", algorithm_text},
      {"utility", utility_text},
      {"type_traits", type_traits_text},
      {"stddef.h", cstddef_text},
      {"cstddef", cstddef_text},
      {"cuda.h", cuda_text},
      // printf, assert and malloc are known to NVRTC without a header; the verdict on them is the cubin check's.
      {"stdio.h", empty_text},
      {"cstdio", empty_text},
      {"stdlib.h", empty_text},
      {"cstdlib", empty_text},
      {"string.h", empty_text},
      {"cstring", empty_text},
      {"assert.h", empty_text},
      {"cassert", empty_text}};
  return headers;
}

}  // namespace cudal1
