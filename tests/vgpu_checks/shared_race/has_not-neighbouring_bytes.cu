// grid 1 block 128 in x 128 out y 128
extern "C" __global__ void k(const int* x, int* y) {
  __shared__ __align__(4) unsigned char tile[128];
  tile[127 - threadIdx.x] = static_cast<unsigned char>(x[threadIdx.x]);
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
