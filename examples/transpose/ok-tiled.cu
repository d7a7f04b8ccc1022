// Through a tile in shared memory, one column wider than needed so that banks do not collide.
//! kernel transpose<32> replaces * : grid=(ceil_div(x.size(1), 32), ceil_div(x.size(0), 32)) block=(32, 8) \
//!   args=(x, contiguous_1, i32:x.size(0), i32:x.size(1))
template <int side>
__global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int rows, int columns) {
  __shared__ float tile[side][side + 1];
  const int column = blockIdx.x * side + threadIdx.x;
  for (int k = threadIdx.y; k < side; k += blockDim.y) {
    const int row = blockIdx.y * side + k;
    if (row < rows && column < columns) tile[k][threadIdx.x] = x[static_cast<long long>(row) * columns + column];
  }
  __syncthreads();
  const int row = blockIdx.y * side + threadIdx.x;
  for (int k = threadIdx.y; k < side; k += blockDim.y) {
    const int out_row = blockIdx.x * side + k;
    if (out_row < columns && row < rows) y[static_cast<long long>(out_row) * rows + row] = tile[threadIdx.x][k];
  }
}
