// One thread a query, one pass with a running maximum, as flash attention does.
//! kernel attend replaces attention_1 : grid=q.size(1) block=64 args=(q, k, v, attention_1, i32:k.size(2))
extern "C" __global__ void attend(const float* q, const float* k, const float* v, float* y, int keys) {
  const float* query = q + (blockIdx.x * blockDim.x + threadIdx.x) * 64;
  float* out = y + (blockIdx.x * blockDim.x + threadIdx.x) * 64;
  float total[64], largest = -INFINITY, sum = 0.0f;
  for (int d = 0; d < 64; ++d) total[d] = 0.0f;
  for (int i = 0; i < keys; ++i) {
    const float* key = k + (blockIdx.x * keys + i) * 64;
    const float* value = v + (blockIdx.x * keys + i) * 64;
    float score = 0.0f;
    for (int d = 0; d < 64; ++d) score += query[d] * key[d];
    score *= 0.125f;
    const float now = fmaxf(largest, score);
    const float shrink = expf(largest - now), weight = expf(score - now);
    sum = sum * shrink + weight;
    for (int d = 0; d < 64; ++d) total[d] = total[d] * shrink + weight * value[d];
    largest = now;
  }
  for (int d = 0; d < 64; ++d) out[d] = total[d] / sum;
}
