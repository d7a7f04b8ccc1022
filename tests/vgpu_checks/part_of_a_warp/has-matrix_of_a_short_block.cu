// grid 1 block 16 in x 64 out y 64
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ __align__(16) int tile[64];
  for (int i = threadIdx.x; i < 64; i += 16) tile[i] = x[i];
  __syncthreads();
  unsigned found;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(found)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&tile[4 * (threadIdx.x % 8)])))
               : "memory");
  y[threadIdx.x] = found;
}
