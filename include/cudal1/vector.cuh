// Several elements in one access: 16 bytes are what a thread can move at once, and what fast memory-bound kernels move.
//
//   __global__ void scale(const float* __restrict__ x, float* __restrict__ y, int count) {
//     const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
//     if (i >= count) return;                      // count is a multiple of 4, x and y lie at multiples of 16 bytes
//     cudal1::Vector<float, 4> v = cudal1::load<4>(x + i);
//     for (int k = 0; k < 4; ++k) v[k] *= 2.0f;
//     cudal1::store(y + i, v);
//   }
//
// Elements are any type of 1, 2, 4 or 8 bytes; <cudal1/half.cuh> and <cudal1/bfloat16.cuh> add conversions of theirs.
// Vectors of more than 16 bytes take several accesses. A pointer must be a multiple of the access: tensors start at
// multiples of 16 bytes, so element i of a row is at one where the length of the rows and i are multiples of N.
#pragma once

#include <cudal1/types.cuh>

namespace cudal1 {

template <int bytes>
constexpr int access_bytes = bytes < 16 ? bytes : 16;

template <class T, int N>
struct alignas(access_bytes<N * sizeof(T)>) CUDAL1_MAY_ALIAS Vector {
  static_assert(N == 1 || N == 2 || N == 4 || N == 8 || N == 16, "a vector has 1, 2, 4, 8 or 16 elements");
  using Element = T;
  static constexpr int size = N;

  T element[N];

  CUDAL1_INLINE T& operator[](int i) { return element[i]; }
  CUDAL1_INLINE const T& operator[](int i) const { return element[i]; }
};

//! All elements are `value`.
template <int N, class T>
CUDAL1_INLINE Vector<T, N> filled(T value) {
  Vector<T, N> result;
#pragma unroll
  for (int i = 0; i < N; ++i) result[i] = value;
  return result;
}

//! `count` <= N elements are there; the others become `padding`. For the end of a row: element by element.
template <int N, class T>
CUDAL1_INLINE Vector<T, N> load_part(const T* from, int count, Same<T> padding) {
  Vector<T, N> result;
#pragma unroll
  for (int i = 0; i < N; ++i) result[i] = i < count ? from[i] : padding;
  return result;
}

template <int N, class T>
CUDAL1_INLINE void store_part(T* to, const Vector<T, N>& vector, int count) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (i < count) to[i] = vector[i];
}

//! Left to itself, clang takes vectors of small elements apart and moves four of these at a time.
#if defined(__clang__)
template <class T, int N>
constexpr bool moves_as_words = sizeof(T) < 4 && N * sizeof(T) >= 8;
#else
template <class T, int N>
constexpr bool moves_as_words = false;
#endif

template <class T, int N>
using WordsOf = Vector<unsigned, (N * sizeof(T) + 3) / 4>;

template <class T, int N>
CUDAL1_INLINE WordsOf<T, N> packed(const Vector<T, N>& vector) {
  WordsOf<T, N> words = filled<WordsOf<T, N>::size>(0u);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    unsigned bits = 0;
    memcpy(&bits, &vector[i], sizeof(T));
    words[i * sizeof(T) / 4] |= bits << 8 * (i * sizeof(T) % 4);
  }
  return words;
}

template <class T, int N>
CUDAL1_INLINE Vector<T, N> unpacked(const WordsOf<T, N>& words) {
  Vector<T, N> vector;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const unsigned bits = words[i * sizeof(T) / 4] >> 8 * (i * sizeof(T) % 4);
    memcpy(&vector[i], &bits, sizeof(T));
  }
  return vector;
}

template <int N, class T>
CUDAL1_INLINE Vector<T, N> load(const T* from) {
  if constexpr (moves_as_words<T, N>)
    return unpacked<T, N>(*reinterpret_cast<const WordsOf<T, N>*>(from));
  else
    return *reinterpret_cast<const Vector<T, N>*>(from);
}

template <class T, int N>
CUDAL1_INLINE void store(T* to, const Vector<T, N>& vector) {
  if constexpr (moves_as_words<T, N>)
    *reinterpret_cast<WordsOf<T, N>*>(to) = packed(vector);
  else
    *reinterpret_cast<Vector<T, N>*>(to) = vector;
}

//! The integers that have as many bytes as one access.
template <int bytes>
struct AccessWord;
template <>
struct AccessWord<1> {
  using Type = signed char;
};
template <>
struct AccessWord<2> {
  using Type = short;
};
template <>
struct AccessWord<4> {
  using Type = int;
};
template <>
struct AccessWord<8> {
  using Type = int2;
};
template <>
struct AccessWord<16> {
  using Type = int4;
};

//! For what is read once and never again: it is the first to leave the caches (ld.global.cs), so that what is read
//! again stays. Global memory only.
template <int N, class T>
CUDAL1_INLINE Vector<T, N> load_once(const T* from) {
  using Word = typename AccessWord<access_bytes<N * sizeof(T)>>::Type;
  constexpr int accesses = N * sizeof(T) / sizeof(Word);
  Word words[accesses];
#pragma unroll
  for (int i = 0; i < accesses; ++i) words[i] = __ldcs(reinterpret_cast<const Word*>(from) + i);
  Vector<T, N> result;
  memcpy(&result, words, sizeof result);
  return result;
}

//! For what this kernel and the next do not read again (st.global.cs). Global memory only.
template <class T, int N>
CUDAL1_INLINE void store_once(T* to, const Vector<T, N>& vector) {
  using Word = typename AccessWord<access_bytes<N * sizeof(T)>>::Type;
  constexpr int accesses = N * sizeof(T) / sizeof(Word);
  Word words[accesses];
  memcpy(words, &vector, sizeof vector);
#pragma unroll
  for (int i = 0; i < accesses; ++i) __stcs(reinterpret_cast<Word*>(to) + i, words[i]);
}

//! How elements are converted. The headers of the half types specialise it.
template <class T>
struct FloatConversion {
  static CUDAL1_INLINE float to_float(T x) { return static_cast<float>(x); }
  static CUDAL1_INLINE T from_float(float x) { return static_cast<T>(x); }
  static CUDAL1_INLINE void from_two_floats(float x, float y, T* pair) {
    pair[0] = from_float(x);
    pair[1] = from_float(y);
  }
};

template <class T>
CUDAL1_INLINE float to_float(T x) {
  return FloatConversion<T>::to_float(x);
}
template <class T, int N>
CUDAL1_INLINE Vector<float, N> to_float(const Vector<T, N>& x) {
  Vector<float, N> result;
#pragma unroll
  for (int i = 0; i < N; ++i) result[i] = to_float(x[i]);
  return result;
}

//! As PyTorch casts: to the nearest of the half types, towards zero to integers, to true what is not zero.
template <class T>
CUDAL1_INLINE T from_float(float x) {
  return FloatConversion<T>::from_float(x);
}
template <class T, int N>
CUDAL1_INLINE Vector<T, N> from_float(const Vector<float, N>& x) {
  Vector<T, N> result;
  if constexpr (N == 1) result[0] = from_float<T>(x[0]);
#pragma unroll
  for (int i = 0; i + 1 < N; i += 2) FloatConversion<T>::from_two_floats(x[i], x[i + 1], &result[i]);
  return result;
}

}  // namespace cudal1
