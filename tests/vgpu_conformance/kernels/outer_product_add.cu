// A += x y^T + u v^T: two outer products added to a matrix, by the shape of what a thread has.
//! define X=32 Y=8 ROWS=1 WIDTH=1 STAGED=0
//! variant element: X=256 Y=1
//! variant element_32x8: X=32 Y=8
//! variant quads: X=64 Y=4 WIDTH=4
//! variant column_of_16: X=128 Y=1 ROWS=16
//! variant quads_by_8: X=32 Y=8 WIDTH=4 ROWS=8
//! variant staged_vectors: X=32 Y=8 ROWS=4 STAGED=1
//! variant narrow_blocks: X=2 Y=128
//! let rows = 4096 small 128
//! let columns = 4096 small 256
//! input x f32[rows] random
//! input y f32[columns] random
//! input u f32[rows] random
//! input v f32[columns] random
//! buffer a f32[rows*columns] random
//! launch add grid=(columns/(X*WIDTH),rows/(Y*ROWS)) block=(X,Y) args=(x, y, u, v, a, i32:columns)
//! reference outer_product_add
//! check a exactly

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

__global__ void add(const float* x, const Pack* y, const float* u, const Pack* v, Pack* a, int columns) {
  const int column = blockIdx.x * X + threadIdx.x, first = (blockIdx.y * Y + threadIdx.y) * ROWS;
  __shared__ float left[2][Y * ROWS];
  if (STAGED) {
    const int thread = threadIdx.y * X + threadIdx.x;
    if (thread < Y * ROWS) {
      left[0][thread] = x[blockIdx.y * Y * ROWS + thread];
      left[1][thread] = u[blockIdx.y * Y * ROWS + thread];
    }
    __syncthreads();
  }
  const Pack right = y[column], other = v[column];
#pragma unroll
  for (int row = 0; row < ROWS; ++row) {
    const float by = STAGED ? left[0][threadIdx.y * ROWS + row] : x[first + row];
    const float with = STAGED ? left[1][threadIdx.y * ROWS + row] : u[first + row];
    Pack* at = a + (first + row) * (columns / WIDTH) + column;
    Pack sum = *at;
    for (int k = 0; k < WIDTH; ++k) sum.element[k] += by * right.element[k] + with * other.element[k];
    *at = sum;
  }
}
