// Inclusive prefix sums inside pieces of BLOCK or 2 BLOCK numbers: Hillis and Steele, Blelloch, or shuffles.
//! define BLOCK=256 METHOD=2 PADDING=0
//! variant hillis_steele: METHOD=0
//! variant hillis_steele_1024: METHOD=0 BLOCK=1024
//! variant blelloch_conflicts: METHOD=1
//! variant blelloch_padded: METHOD=1 PADDING=1
//! variant shuffles: METHOD=2
//! variant shuffles_1024: METHOD=2 BLOCK=1024
//! let n = 8388608 small 32768
//! let piece = BLOCK*(1+METHOD%2)
//! input x i32[n] below 1000
//! buffer y i32[n] poison
//! launch scan grid=(n/piece) block=(BLOCK) args=(x, y)
//! reference scan_pieces
//! check y exactly

__device__ int place(int i) { return PADDING ? i + i / 32 : i; }

__device__ void hillis_steele(const int* x, int* y) {
  __shared__ int sums[2][BLOCK];
  const int t = threadIdx.x;
  int now = 0;
  sums[0][t] = x[t];
  __syncthreads();
  for (int step = 1; step < BLOCK; step *= 2, now = 1 - now) {
    sums[1 - now][t] = sums[now][t] + (t >= step ? sums[now][t - step] : 0);
    __syncthreads();
  }
  y[t] = sums[now][t];
}

// Sums up a tree of twice BLOCK leaves and hands down what lies to the left.
__device__ void blelloch(const int* x, int* y) {
  constexpr int n = 2 * BLOCK;
  __shared__ int tree[n + n / 32];
  const int t = threadIdx.x, a = x[t], b = x[t + BLOCK];
  tree[place(t)] = a;
  tree[place(t + BLOCK)] = b;
  int step = 1;
  for (int nodes = BLOCK; nodes > 0; nodes /= 2, step *= 2) {
    __syncthreads();
    if (t < nodes) tree[place(step * (2 * t + 2) - 1)] += tree[place(step * (2 * t + 1) - 1)];
  }
  if (t == 0) tree[place(n - 1)] = 0;
  for (int nodes = 1; nodes < n; nodes *= 2) {
    step /= 2;
    __syncthreads();
    if (t >= nodes) continue;
    const int left = place(step * (2 * t + 1) - 1), right = place(step * (2 * t + 2) - 1), sum = tree[left];
    tree[left] = tree[right];
    tree[right] += sum;
  }
  __syncthreads();
  y[t] = tree[place(t)] + a;
  y[t + BLOCK] = tree[place(t + BLOCK)] + b;
}

__device__ int warp_scan(int value) {
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 >= step) value += other;
  }
  return value;
}

__device__ void shuffles(const int* x, int* y) {
  __shared__ int totals[32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int own = warp_scan(x[threadIdx.x]);
  if (lane == 31) totals[warp] = own;
  __syncthreads();
  if (warp == 0) totals[lane] = warp_scan(lane < BLOCK / 32 ? totals[lane] : 0);
  __syncthreads();
  y[threadIdx.x] = own + (warp > 0 ? totals[warp - 1] : 0);
}

__global__ void scan(const int* x, int* y) {
  const int begin = blockIdx.x * BLOCK * (METHOD == 1 ? 2 : 1);
  if (METHOD == 0) hillis_steele(x + begin, y + begin);
  if (METHOD == 1) blelloch(x + begin, y + begin);
  if (METHOD == 2) shuffles(x + begin, y + begin);
}
