//! kernel scaled replaces m0 m1 m2 m3 m4 m5 m6 m7 m8 m9 m10 m11 m12 m13 m14 m15 m16 m17 m18 m19 m20 m21 m22 m23 m24 m25 m26 m27 m28 m29 m30 m31 m32 m33 m34 m35 m36 m37 m38 m39 : grid=64 block=256 args=(x, m39)
extern "C" __global__ void scaled(const float* x, float* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const unsigned rounded = (__float_as_uint(x[i]) + 0x1000u) & 0xffffe000u;
  y[i] = __uint_as_float(rounded);
}
