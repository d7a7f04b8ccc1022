// Prices of options: logarithms, roots, exponentials and the error function; precise, fast, or in double.
//! define TYPE=f32 FAST=0 BLOCK=256 ITEMS=1 ERROR=1e-5 DEVICES=0
//! variant precise: FAST=0
//! variant precise_64: FAST=0 BLOCK=64
//! variant precise_4_items: FAST=0 ITEMS=4
//! variant fast: FAST=1 DEVICES=1e-5
//! variant fast_4_items: FAST=1 ITEMS=4 DEVICES=1e-5
//! variant double: TYPE=f64 ERROR=1e-12
//! let n = 2097152 small 8192
//! input price TYPE[n] between 5 30
//! input strike TYPE[n] between 1 100
//! input years TYPE[n] between 0.25 10
//! buffer call TYPE[n] poison
//! launch black_scholes grid=(n/(BLOCK*ITEMS)) block=(BLOCK) args=(price, strike, years, call)
//! reference black_scholes
//! check call relative DEVICES, reference relative ERROR

using f32 = float;
using f64 = double;

__device__ float natural_log(float x) { return FAST ? __logf(x) : logf(x); }
__device__ float exponential(float x) { return FAST ? __expf(x) : expf(x); }
__device__ double natural_log(double x) { return log(x); }
__device__ double exponential(double x) { return exp(x); }
__device__ float root(float x) { return sqrtf(x); }
__device__ double root(double x) { return sqrt(x); }
__device__ float below(float x) { return 0.5f + 0.5f * erff(x * 0.70710678f); }
__device__ double below(double x) { return 0.5 + 0.5 * erf(x * 0.70710678118654752); }

__global__ void black_scholes(const TYPE* price, const TYPE* strike, const TYPE* years, TYPE* call) {
  const TYPE rate = TYPE(0.02), volatility = TYPE(0.3);
  for (int item = 0; item < ITEMS; ++item) {
    const int i = (blockIdx.x * ITEMS + item) * BLOCK + threadIdx.x;
    const TYPE spread = volatility * root(years[i]);
    const TYPE d1 =
        (natural_log(price[i] / strike[i]) + (rate + volatility * volatility / TYPE(2)) * years[i]) / spread;
    call[i] = price[i] * below(d1) - strike[i] * exponential(-rate * years[i]) * below(d1 - spread);
  }
}
