// The largest of every WINDOW x WINDOW square.
//! define WINDOW=2 X=32 Y=8 STEP=2
//! variant window_2: WINDOW=2 STEP=2
//! variant window_2_tall_blocks: WINDOW=2 STEP=2 X=8 Y=32
//! variant window_4: WINDOW=4 STEP=4
//! variant window_3_overlapping: WINDOW=3 STEP=2
//! variant window_8_overlapping: WINDOW=8 STEP=2
//! let width = 4096 small 256
//! let edge = width + 8
//! let outputs = width/STEP
//! input x f32[edge*edge] random
//! buffer y f32[outputs*outputs] poison
//! launch pool grid=(outputs/X,outputs/Y) block=(X,Y) args=(x, y, i32:edge, i32:outputs)
//! reference max_pool
//! check y exactly

__global__ void pool(const float* x, float* y, int edge, int outputs) {
  const int column = blockIdx.x * X + threadIdx.x, row = blockIdx.y * Y + threadIdx.y;
  float largest = -INFINITY;
  for (int i = 0; i < WINDOW; ++i)
    for (int j = 0; j < WINDOW; ++j) largest = fmaxf(largest, x[(row * STEP + i) * edge + column * STEP + j]);
  y[row * outputs + column] = largest;
}
