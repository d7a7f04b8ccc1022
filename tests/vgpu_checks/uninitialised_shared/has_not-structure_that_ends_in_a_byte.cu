// grid 1 block 64 in x 64 out y 64
struct Item {
  float value;
  char kind;
};
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ Item items[64];
  items[threadIdx.x].value = x[threadIdx.x];
  items[threadIdx.x].kind = static_cast<char>(threadIdx.x % 8);
  __syncthreads();
  const Item other = items[63 - threadIdx.x];
  __syncthreads();
  items[threadIdx.x] = other;
  __syncthreads();
  y[threadIdx.x] = items[threadIdx.x ^ 1].kind;
}
