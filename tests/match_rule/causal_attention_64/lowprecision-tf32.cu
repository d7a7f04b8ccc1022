//! kernel attend replaces kt s scaled ones later masked p y : grid=64 block=64 args=(q, k, v, y)
__device__ float tf32(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }
extern "C" __global__ void attend(const float* q, const float* k, const float* v, float* y) {
  __shared__ float scores[64];
  const int row = blockIdx.x, column = threadIdx.x;
  float score = 0.0f;
  for (int d = 0; d < 64; ++d) score += tf32(q[row * 64 + d]) * tf32(k[column * 64 + d]);
  scores[column] = score * 0.125f;
  __syncthreads();
  float largest = scores[0];
  for (int j = 1; j <= row; ++j) largest = fmaxf(largest, scores[j]);
  float sum = 0.0f, weighted = 0.0f;
  for (int j = 0; j <= row; ++j) {
    const float weight = expf(scores[j] - largest);
    sum += weight;
    weighted += weight * v[j * 64 + column];
  }
  y[row * 64 + column] = weighted / sum;
}
