// y = gelu(x + bias of the column), as after a linear layer: by who has which elements and by how gelu is computed.
//! define BLOCK=256 WIDTH=1 ROWS=16 GELU=by_error_function APART=0 FLAT=0 BY_ROW=0 ROW_LOOP=0 DOWN=0 REFERENCE=gelu_bias
//! variant flat: FLAT=1
//! variant flat_quads: FLAT=1 WIDTH=4
//! variant flat_quads_tanh: FLAT=1 WIDTH=4 GELU=by_tanh REFERENCE=gelu_tanh_bias
//! variant block_in_row: BY_ROW=1
//! variant row_loop_quads: ROW_LOOP=1 WIDTH=4
//! variant down_16_rows: DOWN=1
//! variant down_16_rows_fast: DOWN=1 GELU=by_fast_exponential REFERENCE=gelu_tanh_bias APART=1e-6
//! let rows = 8192 small 64
//! let columns = 2048 small 1024
//! input x f32[rows*columns] between -3 3
//! input bias f32[columns] random
//! buffer y f32[rows*columns] poison
//! launch flat grid=(rows*columns/(BLOCK*WIDTH)) block=(BLOCK) args=(x, bias, y, i32:columns) when=FLAT
//! launch block_in_row grid=(columns/BLOCK,rows) block=(BLOCK) args=(x, bias, y, i32:columns) when=BY_ROW
//! launch row_loop grid=(rows) block=(BLOCK) args=(x, bias, y, i32:columns) when=ROW_LOOP
//! launch down grid=(columns/BLOCK,rows/ROWS) block=(BLOCK) args=(x, bias, y, i32:columns) when=DOWN
//! reference REFERENCE
//! check y relative APART, reference relative 2e-6

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

__device__ float by_error_function(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

__device__ float by_tanh(float x) { return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x))); }

// tanh(z) = 1 - 2 / (exp(2 z) + 1)
__device__ float by_fast_exponential(float x) {
  const float z = 0.79788456f * (x + 0.044715f * x * x * x);
  return x * (1.0f - __fdividef(1.0f, __expf(2.0f * z) + 1.0f));
}

__device__ Pack activated(Pack x, Pack bias) {
  for (int k = 0; k < WIDTH; ++k) x.element[k] = GELU(x.element[k] + bias.element[k]);
  return x;
}

__global__ void flat(const Pack* x, const Pack* bias, Pack* y, int columns) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  y[i] = activated(x[i], bias[i % (columns / WIDTH)]);
}

__global__ void block_in_row(const float* x, const float* bias, float* y, int columns) {
  const int column = blockIdx.x * BLOCK + threadIdx.x, i = blockIdx.y * columns + column;
  y[i] = GELU(x[i] + bias[column]);
}

__global__ void row_loop(const Pack* x, const Pack* bias, Pack* y, int columns) {
  const int packs = columns / WIDTH, row = blockIdx.x * packs;
  for (int i = threadIdx.x; i < packs; i += BLOCK) y[row + i] = activated(x[row + i], bias[i]);
}

__global__ void down(const float* x, const float* bias, float* y, int columns) {
  const int column = blockIdx.x * BLOCK + threadIdx.x;
  const float own = bias[column];
  for (int row = blockIdx.y * ROWS; row < (blockIdx.y + 1) * ROWS; ++row)
    y[row * columns + column] = GELU(x[row * columns + column] + own);
}
