// grid 1 block 64 in x 64 out y 64
struct Entry {
  float value;
  short index;
};
extern "C" __global__ void k(const int* x, int* y) {
  Entry entries[4];
  for (int i = 0; i < 4; ++i) {
    entries[x[i]].value = x[threadIdx.x];
    if (x[0] != 0) entries[x[i]].index = 1;
  }
  y[threadIdx.x] = entries[threadIdx.x % 4].index;
}
