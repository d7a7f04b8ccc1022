// grid 1 block 32 in x 32 out y 32
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ __align__(16) int tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  const unsigned row = threadIdx.x < 8 ? 4 * threadIdx.x : 0;
  unsigned found;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(found)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&tile[row])))
               : "memory");
  y[threadIdx.x] = found;
}
