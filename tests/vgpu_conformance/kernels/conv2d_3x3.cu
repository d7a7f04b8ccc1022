// 3 x 3 convolution of 32 channels with 32 others over padded images, channels apart or last.
//! define X=32 Y=4 OUTPUTS=1 ROWS=1 STAGED=0 LAST=0
//! variant naive: OUTPUTS=1
//! variant naive_16x16: X=16 Y=16
//! variant four_channels: OUTPUTS=4
//! variant four_rows: ROWS=4
//! variant staged_four_channels: STAGED=1 OUTPUTS=4
//! variant staged_eight_channels_two_rows: STAGED=1 OUTPUTS=8 ROWS=2
//! variant last: LAST=1 ROWS=4
//! let images = 16 small 1
//! let n = 64 small 32
//! let edge = n+2
//! input x f32[images*32*edge*edge] random
//! input w f32[32*32*9] random
//! buffer y f32[images*32*n*n] poison
//! launch convolve grid=(n/X,n/(Y*ROWS),images*32/OUTPUTS) block=(X,Y) args=(x, w, y, i32:n) when=1-LAST
//! launch convolve_last grid=(n/(Y*ROWS),n,images) block=(32,Y) args=(x, w, y, i32:n) when=LAST
//! reference conv2d_3x3
//! check y exactly, reference relative 3e-6

constexpr int inputs = 32, rows = Y * ROWS;

// sums of ROWS rows from a column of ROWS + 2; `w` has OUTPUTS filters, each inputs * 9 apart.
__device__ void add_channel(float (&sums)[OUTPUTS][ROWS], const float* x, int stride, const float* w) {
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    float column[ROWS + 2];
#pragma unroll
    for (int i = 0; i < ROWS + 2; ++i) column[i] = x[i * stride + j];
#pragma unroll
    for (int out = 0; out < OUTPUTS; ++out)
#pragma unroll
      for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int row = 0; row < ROWS; ++row)
          sums[out][row] = fmaf(w[out * inputs * 9 + i * 3 + j], column[row + i], sums[out][row]);
  }
}

// x: (images, inputs, n + 2, n + 2), w: (32, inputs, 3, 3), y: (images, 32, n, n)
__global__ void convolve(const float* x, const float* w, float* y, int n) {
  __shared__ float tile[STAGED ? rows + 2 : 1][X + 2];
  const int edge = n + 2, image = blockIdx.z / (32 / OUTPUTS), out = blockIdx.z % (32 / OUTPUTS) * OUTPUTS;
  const int top = blockIdx.y * rows, side = blockIdx.x * X, own_row = threadIdx.y * ROWS;
  x += image * inputs * edge * edge + top * edge + side;
  w += out * inputs * 9;
  float sums[OUTPUTS][ROWS] = {};
  for (int in = 0; in < inputs; ++in, x += edge * edge, w += 9) {
    if (!STAGED) {
      add_channel(sums, x + own_row * edge + threadIdx.x, edge, w);
      continue;
    }
    __syncthreads();
    for (int i = threadIdx.y * X + threadIdx.x; i < (rows + 2) * (X + 2); i += X * Y)
      tile[i / (X + 2)][i % (X + 2)] = x[i / (X + 2) * edge + i % (X + 2)];
    __syncthreads();
    add_channel(sums, &tile[own_row][threadIdx.x], X + 2, w);
  }
  for (int i = 0; i < OUTPUTS; ++i)
    for (int row = 0; row < ROWS; ++row)
      y[((image * 32 + out + i) * n + top + own_row + row) * n + side + threadIdx.x] = sums[i][row];
}

// x: (images, n + 2, n + 2, inputs), w: (inputs, 3, 3, 32), y: (images, n, n, 32): a lane is an output channel.
__global__ void convolve_last(const float* x, const float* w, float* y, int n) {
  const int edge = n + 2, out = threadIdx.x, row = blockIdx.y, first = (blockIdx.x * Y + threadIdx.y) * ROWS;
  x += ((blockIdx.z * edge + row) * edge + first) * inputs;
  float sums[ROWS] = {};
  for (int in = 0; in < inputs; ++in)
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int j = 0; j < 3; ++j) {
        const float weight = w[(in * 9 + i * 3 + j) * 32 + out];
#pragma unroll
        for (int k = 0; k < ROWS; ++k) sums[k] = fmaf(weight, x[(i * edge + j + k) * inputs + in], sums[k]);
      }
  for (int k = 0; k < ROWS; ++k) y[((blockIdx.z * n + row) * n + first + k) * 32 + out] = sums[k];
}
