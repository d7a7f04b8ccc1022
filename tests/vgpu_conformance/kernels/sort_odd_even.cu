// Sorts pieces of 128 by comparing neighbours, odd and even pairs in turns.
//! let n = 512
//! let piece = 128
//! buffer x i32[n] random
//! launch sort grid=(n/piece) block=(64) args=(x)
//! reference sort_signed_pieces
//! check x exactly

__global__ void sort(int* x) {
  __shared__ int keys[128];
  int* piece = x + blockIdx.x * 128;
  const int t = threadIdx.x;
  keys[t] = piece[t];
  keys[t + 64] = piece[t + 64];
  for (int round = 0; round < 128; ++round) {
    __syncthreads();
    const int low = 2 * t + round % 2;
    if (low + 1 < 128 && keys[low] > keys[low + 1]) {
      const int larger = keys[low];
      keys[low] = keys[low + 1];
      keys[low + 1] = larger;
    }
  }
  __syncthreads();
  piece[t] = keys[t];
  piece[t + 64] = keys[t + 64];
}
