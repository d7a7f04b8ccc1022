// grid 1 block 32 in x 32 out y 32
extern "C" __global__ void k(float* to, float* from) {
  from[threadIdx.x] = 0.0f;
  to[threadIdx.x] = from[threadIdx.x];
}
