//! kernel rows replaces h f c i e : grid=128 block=256 args=(x, "table", e)
extern "C" __global__ void rows(const float* x, const float* table, float* e) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float scaled = __fadd_rn(__fmul_rn(x[i / 8], 0.5f * 0x1.0p-9f), x[i / 8]);
  const int row = min(max((int)floorf(scaled), 0), 63);
  e[i] = table[row * 8 + i % 8];
}
