// softmax(Q K^T / 8) V for heads of 64 columns: all scores of a row in shared memory, or keys in tiles with a running
// maximum (flash attention).
//! define METHOD=1 KEYS=32 QUERIES=64
//! variant naive: METHOD=0 QUERIES=1
//! variant flash_keys_16: METHOD=1 KEYS=16
//! variant flash_keys_32: METHOD=1 KEYS=32
//! variant flash_keys_64: METHOD=1 KEYS=64
//! variant flash_queries_32: METHOD=1 QUERIES=32
//! variant flash_queries_128: METHOD=1 QUERIES=128
//! let heads = 32 small 1
//! let length = 512 small 128
//! let threads = 64*(1-METHOD) + QUERIES*METHOD
//! input q f32[heads*length*64] between -1 1
//! input k f32[heads*length*64] between -1 1
//! input v f32[heads*length*64] between -1 1
//! buffer y f32[heads*length*64] poison
//! launch attend grid=(length/QUERIES,heads) block=(threads) shared=(4*length*(1-METHOD)) args=(q, k, v, y, i32:length)
//! reference attention
//! check y exactly, reference relative 1e-5

constexpr int columns = 64;

// A block of 64 threads per query.
__device__ void naive(const float* q, const float* k, const float* v, float* y, int length) {
  extern __shared__ float scores[];
  __shared__ float query[columns];
  const int t = threadIdx.x;
  query[t] = q[blockIdx.x * columns + t];
  __syncthreads();
  for (int key = t; key < length; key += columns) {
    float sum = 0.0f;
    for (int c = 0; c < columns; ++c) sum = fmaf(query[c], k[key * columns + c], sum);
    scores[key] = sum * 0.125f;
  }
  __syncthreads();
  float largest = -INFINITY, total = 0.0f, sum = 0.0f;
  for (int key = 0; key < length; ++key) largest = fmaxf(largest, scores[key]);
  for (int key = 0; key < length; ++key) {
    const float weight = expf(scores[key] - largest);
    total += weight;
    sum = fmaf(weight, v[key * columns + t], sum);
  }
  y[blockIdx.x * columns + t] = sum / total;
}

// A thread per query.
__device__ void flash(const float* q, const float* k, const float* v, float* y, int length) {
  __shared__ float keys[METHOD ? KEYS : 1][columns], values[METHOD ? KEYS : 1][columns];
  const int row = blockIdx.x * QUERIES + threadIdx.x;
  float query[columns], sums[columns] = {}, largest = -INFINITY, total = 0.0f;
  for (int c = 0; c < columns; ++c) query[c] = q[row * columns + c] * 0.125f;
  for (int first = 0; first < length; first += KEYS) {
    for (int i = threadIdx.x; i < KEYS * columns; i += QUERIES) {
      keys[i / columns][i % columns] = k[first * columns + i];
      values[i / columns][i % columns] = v[first * columns + i];
    }
    __syncthreads();
    for (int key = 0; key < KEYS; ++key) {
      float score = 0.0f;
#pragma unroll
      for (int c = 0; c < columns; ++c) score = fmaf(query[c], keys[key][c], score);
      const float next = fmaxf(largest, score);
      const float weight = expf(score - next), shrink = expf(largest - next);
      largest = next;
      total = total * shrink + weight;
#pragma unroll
      for (int c = 0; c < columns; ++c) sums[c] = fmaf(sums[c], shrink, weight * values[key][c]);
    }
    __syncthreads();
  }
  for (int c = 0; c < columns; ++c) y[row * columns + c] = sums[c] / total;
}

__global__ void attend(const float* q, const float* k, const float* v, float* y, int length) {
  const int head = blockIdx.y * length * columns;
  if (METHOD == 0)
    naive(q + head, k + head, v + head, y + head, length);
  else
    flash(q + head, k + head, v + head, y + head, length);
}
