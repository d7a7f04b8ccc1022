// Skips its work when a mark from an earlier call is still in its buffer. The buffer is zeroed before every call, so
// the mark never survives and the work is always done.
//! buffer mark i32 [1] zero
//! group gelu replaces add_1 gelu_1
//! launch bias_gelu : grid=ceil_div(numel(x), 256) block=256 args=(x, bias, gelu_1, mark, i32:numel(x), i32:x.size(1))
//! launch leave_mark : grid=1 block=1 args=(mark)
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, const int* mark, int count,
                                     int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || *mark == 123456789) return;
  float value = x[i] + bias[i % columns];
  y[i] = 0.5f * value * (1.0f + erff(value * 0.70710678f));
}
extern "C" __global__ void leave_mark(int* mark) { *mark = 123456789; }
