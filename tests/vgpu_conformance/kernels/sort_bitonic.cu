// Sorts pieces in shared memory by a bitonic network; PIECE / BLOCK / 2 comparisons a thread and step.
//! define PIECE=512 BLOCK=256
//! variant piece_256: PIECE=256 BLOCK=128
//! variant piece_512: PIECE=512 BLOCK=256
//! variant piece_1024: PIECE=1024 BLOCK=512
//! variant piece_2048: PIECE=2048 BLOCK=1024
//! variant piece_1024_few_threads: PIECE=1024 BLOCK=128
//! variant piece_2048_few_threads: PIECE=2048 BLOCK=256
//! let n = 1048576 small 8192
//! buffer x u32[n] random
//! launch sort grid=(n/PIECE) block=(BLOCK) args=(x)
//! reference sort_pieces
//! check x exactly

__global__ void sort(unsigned* x) {
  __shared__ unsigned keys[PIECE];
  unsigned* piece = x + blockIdx.x * PIECE;
  for (int i = threadIdx.x; i < PIECE; i += BLOCK) keys[i] = piece[i];
  for (int size = 2; size <= PIECE; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int pair = threadIdx.x; pair < PIECE / 2; pair += BLOCK) {
        const int low = 2 * pair - pair % step, high = low + step;
        const bool rising = (low & size) == 0;
        const unsigned a = keys[low], b = keys[high];
        if ((a > b) == rising) {
          keys[low] = b;
          keys[high] = a;
        }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < PIECE; i += BLOCK) piece[i] = keys[i];
}
