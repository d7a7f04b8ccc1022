// What reductions combine values by. <cudal1/reduce.cuh> includes this.
//
//   __device__ float variance_of_row(const float* row, int columns) {  // of one thread
//     auto seen = cudal1::Welford<float>::identity();
//     for (int i = 0; i < columns; ++i) seen = cudal1::Welford<float>::add(seen, row[i]);
//     return seen.squares / seen.count;
//   }
//
// An operation has a `Value`, an `identity()` that changes nothing, and `combine(a, b)`, where a comes before b; those
// whose Value is no plain number also have `of(element)` and `add(value, element)`. NaN wins everywhere, as in PyTorch.
#pragma once

#include <cudal1/math.cuh>

namespace cudal1 {

template <class T>
struct Sum {
  using Value = T;
  static CUDAL1_INLINE T identity() { return T(0); }
  static CUDAL1_INLINE T combine(T a, T b) { return a + b; }
};

template <class T>
struct Product {
  using Value = T;
  static CUDAL1_INLINE T identity() { return T(1); }
  static CUDAL1_INLINE T combine(T a, T b) { return a * b; }
};

template <class T>
struct Max {
  using Value = T;
  static CUDAL1_INLINE T identity() { return lowest<T>(); }
  static CUDAL1_INLINE T combine(T a, T b) { return maximum(a, b); }
};

template <class T>
struct Min {
  using Value = T;
  static CUDAL1_INLINE T identity() { return highest<T>(); }
  static CUDAL1_INLINE T combine(T a, T b) { return minimum(a, b); }
};

//! torch.any
struct Any {
  using Value = bool;
  static CUDAL1_INLINE bool identity() { return false; }
  static CUDAL1_INLINE bool combine(bool a, bool b) { return a | b; }
};

//! torch.all
struct All {
  using Value = bool;
  static CUDAL1_INLINE bool identity() { return true; }
  static CUDAL1_INLINE bool combine(bool a, bool b) { return a & b; }
};

//! An element and where it was found. PyTorch's indices are i64; one of 32 bits moves faster and is widened at the end.
template <class T, class Index>
struct Indexed {
  T value;
  Index index;
};

//! As wide as the element where that has 8 bytes: nothing undefined lies between them when the pair is copied.
template <int bytes>
struct IndexBeside {
  using Type = int;
};
template <>
struct IndexBeside<8> {
  using Type = long long;
};

//! The largest, of equal ones the first; NaN is larger than all.
template <class T, class Index = typename IndexBeside<sizeof(T)>::Type>
struct ArgMax {
  using Value = Indexed<T, Index>;
  static CUDAL1_INLINE Value identity() { return {lowest<T>(), highest<Index>()}; }
  static CUDAL1_INLINE Value of(T value, Index index) { return {value, index}; }
  static CUDAL1_INLINE Value combine(Value a, Value b) {
    const bool equal = a.value == b.value || (is_nan(a.value) && is_nan(b.value));
    const bool first = equal ? a.index <= b.index : a.value > b.value || is_nan(a.value);
    return first ? a : b;
  }
  static CUDAL1_INLINE Value add(Value value, T element, Index index) { return combine(value, of(element, index)); }
};

//! The least, of equal ones the first; NaN is less than all.
template <class T, class Index = typename IndexBeside<sizeof(T)>::Type>
struct ArgMin {
  using Value = Indexed<T, Index>;
  static CUDAL1_INLINE Value identity() { return {highest<T>(), highest<Index>()}; }
  static CUDAL1_INLINE Value of(T value, Index index) { return {value, index}; }
  static CUDAL1_INLINE Value combine(Value a, Value b) {
    const bool equal = a.value == b.value || (is_nan(a.value) && is_nan(b.value));
    const bool first = equal ? a.index <= b.index : a.value < b.value || is_nan(a.value);
    return first ? a : b;
  }
  static CUDAL1_INLINE Value add(Value value, T element, Index index) { return combine(value, of(element, index)); }
};

//! The same of elements that come one after the other, as max pooling has it: of equal ones the first that came, of
//! NaNs the last. Nothing but -1 is found where nothing came.
template <class T, class Index = int>
struct PoolMax {
  using Value = Indexed<T, Index>;
  static CUDAL1_INLINE Value identity() { return {lowest<T>(), Index(-1)}; }
  static CUDAL1_INLINE Value of(T value, Index index) { return {value, index}; }
  static CUDAL1_INLINE Value add(Value value, T element, Index index) {
    const bool better = value.index < 0 || element > value.value || is_nan(element);
    return better ? of(element, index) : value;
  }
};

//! Mean, sum of squared distances from it, and count: stable where a sum of squares cancels. The variance is
//! squares / count, or squares / (count - 1) unbiased; of equal numbers it is 0, whatever was computed to get them.
template <class T>
struct Welford {
  struct Value {
    T mean, squares, count;
  };
  static CUDAL1_INLINE Value identity() { return {T(0), T(0), T(0)}; }
  static CUDAL1_INLINE Value of(T element) { return {element, T(0), T(1)}; }
  static CUDAL1_INLINE Value add(Value value, T element) {
    const T count = value.count + T(1), distance = difference(element, value.mean);
    const T mean = value.mean + distance * reciprocal(count);
    return {mean, value.squares + distance * difference(element, mean), count};
  }
  static CUDAL1_INLINE Value combine(Value a, Value b) {
    const T count = a.count + b.count, distance = difference(b.mean, a.mean);
    const T share = count > T(0) ? b.count * reciprocal(count) : T(0);
    return {a.mean + distance * share, a.squares + b.squares + distance * distance * (a.count * share), count};
  }
  //! Of counts: the fast division is right to 2 ulps there, and off by that much of a step towards the mean.
  static CUDAL1_INLINE T reciprocal(T count) {
    if constexpr (sizeof(T) == 4)
      return __fdividef(1.0f, count);
    else
      return T(1) / count;
  }
};

//! The largest x and the sum of exp(x - largest), in one pass. Softmax is exp(x - maximum) / sum, log-softmax
//! x - log_sum_exp(value).
template <class T>
struct LogSumExp {
  struct Value {
    T maximum, sum;
  };
  static CUDAL1_INLINE Value identity() { return {lowest<T>(), T(0)}; }
  static CUDAL1_INLINE Value of(T element) { return {element, T(1)}; }
  //! One exponential: that of the larger is exp(0). Of two -infinities, too, the difference is 0 here.
  static CUDAL1_INLINE Value combine(Value a, Value b) {
    const bool a_is_larger = a.maximum >= b.maximum;
    const Value large = a_is_larger ? a : b, small = a_is_larger ? b : a;
    const T scale = small.maximum == large.maximum ? T(1) : ::exp(difference(small.maximum, large.maximum));
    return {large.maximum, large.sum + small.sum * scale};
  }
  static CUDAL1_INLINE Value add(Value value, T element) { return combine(value, of(element)); }
  static CUDAL1_INLINE T log_sum_exp(Value value) { return value.maximum + ::log(value.sum); }
};

}  // namespace cudal1
