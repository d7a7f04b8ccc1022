//! kernel attend replaces kt s scaled ones later masked p y : grid=64 block=64 args=(q, k, v, y)
// Queries are scaled, and products added from the last.
extern "C" __global__ void attend(const float* q, const float* k, const float* v, float* y) {
  __shared__ float scores[64];
  const int row = blockIdx.x, column = threadIdx.x;
  float score = 0.0f;
  for (int d = 0; d < 64; ++d) score += (0.125f * q[row * 64 + 63 - d]) * k[column * 64 + 63 - d];
  scores[column] = score * 1.0f;
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
