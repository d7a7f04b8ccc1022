// Shuffles of whatever can be copied byte by byte, among all 32 lanes of a warp.
//
//   struct Best { float value; int index; };
//   __device__ Best from_neighbour(Best mine) { return cudal1::shuffle_xor(mine, 1); }
//
// All lanes must come to a call.
#pragma once

#include <cudal1/types.cuh>

namespace cudal1 {

//! Which lane of its warp a thread of a one-dimensional block is.
CUDAL1_INLINE int lane() { return threadIdx.x % 32; }

template <class T>
constexpr bool is_structure = __is_class(T) || __is_union(T);

//! A value as words of 32 bits, which is what shuffles move.
template <class T>
struct Words {
  static constexpr int count = (sizeof(T) + 3) / 4;
  unsigned word[count];

  static CUDAL1_INLINE Words of(const T& value) {
    Words words;
    words.word[count - 1] = 0;  // of smaller types not all of it is value
    memcpy(words.word, &value, sizeof(T));
    return words;
  }
  CUDAL1_INLINE T value() const {
    T value;
    memcpy(&value, word, sizeof(T));
    return value;
  }
};

//! The value of another lane, the same or another for each.
template <class T>
CUDAL1_INLINE T shuffle(T value, int from_lane) {
  Words<T> words = Words<T>::of(value);
#pragma unroll
  for (int i = 0; i < Words<T>::count; ++i) words.word[i] = __shfl_sync(0xffffffffu, words.word[i], from_lane);
  return words.value();
}

//! The value of the lane whose number differs in these bits.
template <class T>
CUDAL1_INLINE T shuffle_xor(T value, int bits) {
  Words<T> words = Words<T>::of(value);
#pragma unroll
  for (int i = 0; i < Words<T>::count; ++i) words.word[i] = __shfl_xor_sync(0xffffffffu, words.word[i], bits);
  return words.value();
}

//! The value of the lane so many before; the first lanes keep theirs.
template <class T>
CUDAL1_INLINE T shuffle_up(T value, int lanes) {
  Words<T> words = Words<T>::of(value);
#pragma unroll
  for (int i = 0; i < Words<T>::count; ++i) words.word[i] = __shfl_up_sync(0xffffffffu, words.word[i], lanes);
  return words.value();
}

}  // namespace cudal1
