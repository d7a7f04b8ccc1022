//! kernel rows replaces h f c i e : grid=128 block=256 args=(x, "table", e)
extern "C" __global__ void rows(const float* x, const float* table, float* e) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float scaled = fmaf(x[i / 8], 0x1.0p-10f, x[i / 8]);
  const int row = (int)fminf(fmaxf(floorf(scaled), 0.0f), 63.0f);
  e[i] = table[row * 8 + i % 8];
}
