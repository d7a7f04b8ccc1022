// What the other headers share: how functions are declared, and the ends of a type's range.
//
//   float largest = cudal1::lowest<float>();  // -infinity: what a maximum starts from
#pragma once

// On the virtual GPU an instruction has the place in the program that it is reported with; `nodebug` makes that the
// line that calls a function of these headers. `may_alias`: a type that elements of any other are read and written
// through.
#if defined(__clang__)
#define CUDAL1_INLINE __device__ __forceinline__ __attribute__((nodebug))
#define CUDAL1_MAY_ALIAS __attribute__((may_alias))
#else
#define CUDAL1_INLINE __device__ __forceinline__
#define CUDAL1_MAY_ALIAS
#endif

namespace cudal1 {

//! T, but not where template arguments are found out: clamp(x, 0, 6) takes its type from x alone.
template <class T>
struct SameAs {
  using Type = T;
};
template <class T>
using Same = typename SameAs<T>::Type;

template <class T>
struct IsReal {
  static constexpr bool value = false;
};
template <>
struct IsReal<float> {
  static constexpr bool value = true;
};
template <>
struct IsReal<double> {
  static constexpr bool value = true;
};
template <class T>
constexpr bool is_real = IsReal<T>::value;

//! float or double
template <class T>
CUDAL1_INLINE T infinity() {
  static_assert(is_real<T>, "only float and double have an infinity here; compute in float");
  return static_cast<T>(__int_as_float(0x7f800000));
}

//! No number of this type is less: -infinity, or the least integer.
template <class T>
CUDAL1_INLINE T lowest() {
  if constexpr (is_real<T>)
    return -infinity<T>();
  else if constexpr (static_cast<T>(-1) > static_cast<T>(0))  // unsigned, and bool
    return static_cast<T>(0);
  else
    return static_cast<T>(static_cast<T>(1) << (8 * sizeof(T) - 1));
}

//! No number of this type is greater.
template <class T>
CUDAL1_INLINE T highest() {
  if constexpr (is_real<T>)
    return infinity<T>();
  else if constexpr (static_cast<T>(-1) > static_cast<T>(0))
    return static_cast<T>(-1);
  else
    return static_cast<T>(~lowest<T>());
}

}  // namespace cudal1
