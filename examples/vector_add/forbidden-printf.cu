// Prints from the device: the text lives in a device global and the output goes to the runner's console.
#include <stdio.h>
//! kernel vector_add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, i32:numel(x))
extern "C" __global__ void vector_add(const float* x, const float* y, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) printf("adding %d elements\n", count);
  if (i < count) sum[i] = x[i] + y[i];
}
