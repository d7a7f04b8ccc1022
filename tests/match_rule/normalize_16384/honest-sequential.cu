// Every thread adds the whole row.
//! kernel normalize replaces * : grid=x.size(0) block=32 args=(x, div_1, i32:x.size(1))
extern "C" __global__ void normalize(const float* x, float* y, int columns) {
  const float* in = x + static_cast<long long>(blockIdx.x) * columns;
  float* out = y + static_cast<long long>(blockIdx.x) * columns;
  float squares = 0.0f;
  for (int i = 0; i < columns; ++i) squares += in[i] * in[i];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = in[i] / sqrtf(squares);
}
