// grid 1 block 64 in x 64 out y 64
struct Entry {
  float value;
  short index;
};
extern "C" __global__ void k(const int* x, int* y) {
  Entry best[4];
  for (int i = 0; i < 4; ++i) {
    best[i].value = -1.0f;
    best[i].index = 0;
  }
#pragma unroll 1
  for (int i = 0; i < 16; ++i) {
    const float value = x[(threadIdx.x * 17 + i * 31) % 64];
    int place = 3;
    if (value <= best[3].value) continue;
    for (; place > 0 && best[place - 1].value < value; --place) best[place] = best[place - 1];
    best[place].value = value;
    best[place].index = static_cast<short>(i);
  }
  y[threadIdx.x] = best[threadIdx.x % 4].index;
}
