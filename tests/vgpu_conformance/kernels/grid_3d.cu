// Indices in three dimensions of grid and block, with edges that do not fit.
//! buffer y i32[9*10*11] zero
//! launch number grid=(3,4,3) block=(4,3,4) args=(y)
//! reference grid_3d
//! check y exactly

__global__ void number(int* y) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y,
            layer = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 11 && row < 10 && layer < 9)
    y[(layer * 10 + row) * 11 + x] = x + 100 * row + 10000 * layer + 1000000 * (gridDim.x + gridDim.y * gridDim.z);
}
