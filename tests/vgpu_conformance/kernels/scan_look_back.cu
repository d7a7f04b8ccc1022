// Prefix sums of a whole vector in one launch: each block adds what the blocks before it have made public so far.
//! let n = 16384
//! let blocks = n/256
//! input x i32[n] below 1000
//! buffer state u64[blocks] zero
//! buffer ticket u32[1] zero
//! buffer y i32[n] poison
//! launch scan grid=(blocks) block=(256) args=(x, state, ticket, y)
//! reference scan_all
//! check y exactly

__device__ int warp_scan(int value) {
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 >= step) value += other;
  }
  return value;
}

__device__ int block_scan(int value) {
  __shared__ int totals[8];
  value = warp_scan(value);
  if (threadIdx.x % 32 == 31) totals[threadIdx.x / 32] = value;
  __syncthreads();
  for (int warp = 0; warp < threadIdx.x / 32; ++warp) value += totals[warp];
  return value;
}

// The state of a block: 1 and its own sum, or 2 and the sum up to its end.
__device__ void publish(unsigned long long* state, unsigned kind, int sum) {
  atomicExch(state, static_cast<unsigned long long>(kind) << 32 | static_cast<unsigned>(sum));
}

__device__ int sum_before(unsigned long long* state, int block) {
  int sum = 0;
  for (int at = block - 1; at >= 0;) {
    const unsigned long long seen = atomicAdd(&state[at], 0ull);
    if (seen == 0) continue;
    sum += static_cast<int>(seen);
    if (seen >> 32 == 2) break;
    --at;
  }
  return sum;
}

// Blocks take numbers in the order in which they start, so that those before have started, too.
__global__ void scan(const int* x, unsigned long long* state, unsigned* ticket, int* y) {
  __shared__ int number, before;
  if (threadIdx.x == 0) number = atomicAdd(ticket, 1u);
  __syncthreads();
  const int block = number, i = block * 256 + threadIdx.x;
  const int own = block_scan(x[i]);
  if (threadIdx.x == 255) {
    publish(&state[block], block == 0 ? 2 : 1, own);
    before = sum_before(state, block);
    publish(&state[block], 2, before + own);
  }
  __syncthreads();
  y[i] = before + own;
}
