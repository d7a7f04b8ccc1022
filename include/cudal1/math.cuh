// PyTorch's functions of one element, with PyTorch's accuracy and its treatment of NaN and infinities.
//
//   __global__ void activate(const float* __restrict__ x, float* __restrict__ y, int count) {
//     const int i = blockIdx.x * blockDim.x + threadIdx.x;
//     if (i < count) y[i] = cudal1::hardswish(cudal1::leaky_relu(x[i], 0.01));
//   }
//
// Functions take float or double (of integers what PyTorch has of integers) and compute in that type; parameters may be
// literals of any type. Write cudal1:: before them: CUDA has a `remainder` and a `pow` of its own, which differ.
//
// No fast intrinsics (__expf, __fdividef): they are off by more than the 2 ulps that PyTorch's own functions keep, and
// a kernel that waits for memory has time for some fifty instructions an element.
#pragma once

#include <cudal1/types.cuh>

namespace cudal1 {

// --- maxima, minima, limits ------------------------------------------------------------------------------------------

template <class T>
CUDAL1_INLINE bool is_nan(T x) {
  return x != x;
}

//! torch.maximum: NaN where either is, unlike fmaxf.
template <class T>
CUDAL1_INLINE T maximum(T x, Same<T> y) {
  return x > y || is_nan(x) ? x : y;
}
//! torch.minimum: NaN where either is, unlike fminf.
template <class T>
CUDAL1_INLINE T minimum(T x, Same<T> y) {
  return x < y || is_nan(x) ? x : y;
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800  // one instruction there
template <>
CUDAL1_INLINE float maximum<float>(float x, float y) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
template <>
CUDAL1_INLINE float minimum<float>(float x, float y) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
#endif

//! NaN stays NaN; `high` where low > high.
template <class T>
CUDAL1_INLINE T clamp(T x, Same<T> low, Same<T> high) {
  return minimum(maximum(x, low), high);
}

//! -1, 0 or 1; 0 for NaN, as torch.sign.
template <class T>
CUDAL1_INLINE T sign(T x) {
  return static_cast<T>((x > T(0)) - (x < T(0)));
}

//! x - y of both as they are rounded. Where a product gave x, the compiler may make one instruction of that product and
//! a plain x - y, which then rounds once: what is left of x less itself, or less the mean of numbers equal to it, would
//! be the error of the product, not 0.
template <class T>
CUDAL1_INLINE T difference(T x, Same<T> y) {
  if constexpr (is_real<T> && sizeof(T) == 4)
    return __fsub_rn(x, y);
  else if constexpr (is_real<T>)
    return __dsub_rn(x, y);
  else
    return x - y;
}

//! x + y likewise: the same number wherever it is computed again from a product, which the compiler contracts in one
//! place and not in another that needs the product itself, too.
template <class T>
CUDAL1_INLINE T sum(T x, Same<T> y) {
  if constexpr (is_real<T> && sizeof(T) == 4)
    return __fadd_rn(x, y);
  else if constexpr (is_real<T>)
    return __dadd_rn(x, y);
  else
    return x + y;
}

// --- activations made of pieces --------------------------------------------------------------------------------------

template <class T>
CUDAL1_INLINE T relu(T x) {
  return maximum(x, T(0));
}
template <class T>
CUDAL1_INLINE T relu6(T x) {
  return clamp(x, 0, 6);
}
template <class T>
CUDAL1_INLINE T hardtanh(T x, Same<T> low = T(-1), Same<T> high = T(1)) {
  return clamp(x, low, high);
}
//! Also prelu, with the channel's weight as slope.
template <class T>
CUDAL1_INLINE T leaky_relu(T x, Same<T> slope = T(0.01)) {
  return x > T(0) ? x : x * slope;
}
template <class T>
CUDAL1_INLINE T threshold(T x, Same<T> limit, Same<T> value) {
  return x <= limit ? value : x;
}
template <class T>
CUDAL1_INLINE T hardsigmoid(T x) {
  return clamp(x + T(3), 0, 6) * T(1.0 / 6.0);
}
template <class T>
CUDAL1_INLINE T hardswish(T x) {
  return x * clamp(x + T(3), 0, 6) * T(1.0 / 6.0);
}
template <class T>
CUDAL1_INLINE T hardshrink(T x, Same<T> limit = T(0.5)) {
  return x >= -limit && x <= limit ? T(0) : x;
}
template <class T>
CUDAL1_INLINE T softshrink(T x, Same<T> limit = T(0.5)) {
  if (is_nan(x)) return x;
  return x > limit ? x - limit : x < -limit ? x + limit : T(0);
}
template <class T>
CUDAL1_INLINE T softsign(T x) {
  return x / (T(1) + ::fabs(x));
}

// --- activations made of exponentials --------------------------------------------------------------------------------

using ::erf;
using ::tanh;

template <class T>
CUDAL1_INLINE T sigmoid(T x) {
  return T(1) / (T(1) + ::exp(-x));
}
template <class T>
CUDAL1_INLINE T silu(T x) {
  return x / (T(1) + ::exp(-x));
}

//! log(1 + exp(x)) for beta 1, x itself beyond the threshold.
template <class T>
CUDAL1_INLINE T softplus(T x, Same<T> beta = T(1), Same<T> threshold = T(20)) {
  return x * beta > threshold ? x : ::log1p(::exp(x * beta)) / beta;
}

//! x tanh(log(1 + e)) with e = exp(x) is x n / (n + 2) with n = e (e + 2): one function instead of three, and nothing
//! cancels. From 20 on the fraction rounds to 1; further on n would overflow.
template <class T>
CUDAL1_INLINE T mish(T x) {
  const T e = ::exp(minimum(x, T(sizeof(T) == 4 ? 20 : 40)));
  const T n = e * (e + T(2));
  return x * (n / (n + T(2)));
}

template <class T>
CUDAL1_INLINE T log_sigmoid(T x) {
  return minimum(x, T(0)) - ::log1p(::exp(-::fabs(x)));
}

//! gelu(approximate='none')
template <class T>
CUDAL1_INLINE T gelu(T x) {
  return T(0.5) * x * (T(1) + ::erf(x * T(0.70710678118654752440)));
}

//! gelu(approximate='tanh'): (1 + tanh(u)) / 2 is sigmoid(2 u), where nothing cancels for negative u.
template <class T>
CUDAL1_INLINE T gelu_tanh(T x) {
  const T twice_u = T(1.59576912160573071176) * (x + T(0.044715) * (x * x * x));
  return x / (T(1) + ::exp(-twice_u));
}

template <class T>
CUDAL1_INLINE T elu(T x, Same<T> alpha = T(1), Same<T> scale = T(1), Same<T> input_scale = T(1)) {
  return x > T(0) ? x * scale : ::expm1(x * input_scale) * (alpha * scale);
}
template <class T>
CUDAL1_INLINE T celu(T x, Same<T> alpha = T(1)) {
  return elu(x, alpha, 1, T(1) / alpha);
}
template <class T>
CUDAL1_INLINE T selu(T x) {
  return elu(x, T(1.6732632423543772848170429916717), T(1.0507009873554804934193349852946));
}
template <class T>
CUDAL1_INLINE T tanhshrink(T x) {
  return x - ::tanh(x);
}

// --- division as Python has it ---------------------------------------------------------------------------------------

//! The rest has the sign of the divisor. Integers must not be divided by 0.
template <class T>
CUDAL1_INLINE T remainder(T x, Same<T> divisor) {
  T rest;
  if constexpr (is_real<T>)
    rest = ::fmod(x, divisor);
  else
    rest = x % divisor;
  const bool other_side = rest != T(0) && (rest < T(0)) != (divisor < T(0));
  return other_side ? static_cast<T>(rest + divisor) : rest;
}

//! The quotient rounded down, of real numbers from the exact rest: x / divisor may round up to an integer.
template <class T>
CUDAL1_INLINE T floor_divide(T x, Same<T> divisor) {
  if constexpr (is_real<T>) {
    if (divisor == T(0)) return x / divisor;
    const T rest = ::fmod(x, divisor);
    T quotient = (x - rest) / divisor;
    if (rest != T(0) && (rest < T(0)) != (divisor < T(0))) quotient -= T(1);
    if (quotient == T(0)) return ::copysign(T(0), x / divisor);
    const T down = ::floor(quotient);
    return quotient - down > T(0.5) ? down + T(1) : down;
  } else {
    const T quotient = x / divisor;
    const bool rounded_up = x % divisor != T(0) && (x < T(0)) != (divisor < T(0));
    return static_cast<T>(quotient - (rounded_up ? 1 : 0));
  }
}

// --- powers ----------------------------------------------------------------------------------------------------------

//! x to an integer, by multiplications: PyTorch's pow of integers, where 1 / x^n is rounded towards zero.
template <class T>
CUDAL1_INLINE T power(T x, int exponent) {
  if constexpr (!is_real<T>)
    if (exponent < 0 && x * x != T(1)) return T(0);
  T result = T(1), square = x;
  for (unsigned rest = exponent < 0 ? 0u - exponent : exponent; rest != 0; rest >>= 1) {
    if (rest & 1) result *= square;
    square *= square;
  }
  return exponent < 0 ? T(1) / result : result;
}

//! torch.pow(x, number). With a literal exponent only the line that it names is left; 2, 3, -1, -2, 0.5 and -0.5 are
//! computed as PyTorch does, which does not call pow for them.
template <class T>
CUDAL1_INLINE T pow(T x, Same<T> exponent) {
  if (exponent == T(2)) return x * x;
  if (exponent == T(3)) return x * x * x;
  if (exponent == T(0.5)) return ::sqrt(x);
  if (exponent == T(-0.5)) return ::rsqrt(x);
  if (exponent == T(-1)) return T(1) / x;
  if (exponent == T(-2)) return T(1) / (x * x);
  return ::pow(x, exponent);
}

// --- losses ----------------------------------------------------------------------------------------------------------

//! x log(y), and 0 where x is 0.
template <class T>
CUDAL1_INLINE T xlogy(T x, Same<T> y) {
  if (is_nan(y)) return y;
  return x == T(0) ? T(0) : x * ::log(y);
}
//! smooth_l1_loss of a difference.
template <class T>
CUDAL1_INLINE T smooth_l1(T difference, Same<T> beta = T(1)) {
  const T size = ::fabs(difference);
  return size < beta ? T(0.5) * size * size / beta : size - T(0.5) * beta;
}
//! huber_loss of a difference.
template <class T>
CUDAL1_INLINE T huber(T difference, Same<T> delta = T(1)) {
  const T size = ::fabs(difference);
  return size <= delta ? T(0.5) * size * size : delta * (size - T(0.5) * delta);
}

}  // namespace cudal1
