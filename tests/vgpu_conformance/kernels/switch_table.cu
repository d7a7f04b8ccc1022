// A switch with many cases: lanes of a warp go eight ways and meet again.
//! let n = 2048
//! input x u32[n] random
//! buffer y u32[n] poison
//! launch choose grid=(n/256) block=(256) args=(x, y)
//! reference switch_table
//! check y exactly

__global__ void choose(const unsigned* x, unsigned* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  unsigned v = x[i];
  for (int round = 0; round < 4; ++round) {
    switch (v % 8) {
      case 0:
        v = v * 3 + 1;
        break;
      case 1:
        v ^= v >> 3;
        v += 1000;
        break;
      case 2:
        v = __brev(v);
        break;
      case 3:
        v -= 77;  // falls through
      case 4:
        v = v << 7 | v >> 25;
        break;
      case 5:
        for (int k = 0; k < 3; ++k) v = v * 5 + k;
        break;
      case 6:
        v = __popc(v) * 12345u;
        break;
      default:
        v = ~v;
    }
  }
  y[i] = v + __shfl_xor_sync(0xffffffffu, v, 1);
}
