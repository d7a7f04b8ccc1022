// Steps until each point of the plane escapes: lanes leave the loop at different times, by shape of the block.
//! define X=32 Y=8 LIMIT=256
//! variant block_32x8: X=32 Y=8
//! variant block_8x8: X=8 Y=8
//! variant block_16x16: X=16 Y=16
//! variant block_4x64: X=4 Y=64
//! variant block_256x1: X=256 Y=1
//! variant block_32x8_long: LIMIT=512
//! let n = 1024 small 256
//! buffer steps i32[n*n] poison
//! launch mandelbrot grid=(n/X,n/Y) block=(X,Y) args=(steps, i32:n)
//! reference mandelbrot
//! check steps exactly

__global__ void mandelbrot(int* steps, int n) {
  const int column = blockIdx.x * X + threadIdx.x, row = blockIdx.y * Y + threadIdx.y;
  const float a = -2.0f + column * (3.0f / n), b = -1.5f + row * (3.0f / n);
  float x = 0.0f, y = 0.0f;
  int step = 0;
  while (step < LIMIT && x * x + y * y <= 4.0f) {
    const float next = x * x - y * y + a;
    y = 2.0f * x * y + b;
    x = next;
    ++step;
  }
  steps[row * n + column] = step;
}
