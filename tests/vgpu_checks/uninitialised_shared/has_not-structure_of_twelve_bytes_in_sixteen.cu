// grid 1 block 64 in x 64 out y 64
struct __align__(16) Point {
  float x, y, z;
};
extern "C" __global__ void k(const int* x, float* y) {
  __shared__ Point points[64];
  points[threadIdx.x].x = x[threadIdx.x];
  points[threadIdx.x].y = 1.0f;
  points[threadIdx.x].z = 2.0f;
  __syncthreads();
  const Point other = points[63 - threadIdx.x];
  __syncthreads();
  points[threadIdx.x] = other;
  y[threadIdx.x] = points[threadIdx.x].x + points[threadIdx.x].z;
}
