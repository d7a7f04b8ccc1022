// Every pixel becomes a square of 2 x 2: by output, by input, several at once, channels apart or last.
//! define BLOCK=256 FLAT=0 PLANES=0 INPUTS=0 LAST=0 WIDTH=1
//! variant output: FLAT=1
//! variant output_quads: FLAT=1 WIDTH=4
//! variant output_32x8: PLANES=1
//! variant input: INPUTS=1
//! variant input_pairs: INPUTS=1 WIDTH=2
//! variant input_quads: INPUTS=1 WIDTH=4
//! variant last_quads: LAST=1 WIDTH=4
//! let planes = 256 small 32
//! let n = 128 small 32
//! let pixels = planes*n*n
//! input x f32[pixels] random
//! buffer y f32[4*pixels] poison
//! launch by_output grid=(4*pixels/(BLOCK*WIDTH)) block=(BLOCK) args=(x, y, i32:n) when=FLAT
//! launch by_output_2d grid=(2*n/32,2*n/8,planes) block=(32,8) args=(x, y, i32:n) when=PLANES
//! launch by_input grid=(pixels/(BLOCK*WIDTH)) block=(BLOCK) args=(x, y, i32:n) when=INPUTS
//! launch channels_last grid=(pixels/(BLOCK*WIDTH)) block=(BLOCK) args=(x, y, i32:n, i32:planes) when=LAST
//! reference upsample_nearest
//! check y exactly

template <int width>
struct alignas(4 * width > 16 ? 16 : 4 * width) Pack {
  float element[width];
};

__global__ void by_output(const float* x, Pack<WIDTH>* y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x, at = i * WIDTH;
  const int column = at % (2 * n), row = at / (2 * n) % (2 * n), plane = at / (4 * n * n);
  const float* from = x + (plane * n + row / 2) * n + column / 2;
  Pack<WIDTH> out;
#pragma unroll
  for (int k = 0; k < WIDTH; ++k) out.element[k] = from[k / 2];
  y[i] = out;
}

__global__ void by_output_2d(const float* x, float* y, int n) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y, plane = blockIdx.z;
  y[(plane * 2 * n + row) * 2 * n + column] = x[(plane * n + row / 2) * n + column / 2];
}

__global__ void by_input(const Pack<WIDTH>* x, float* y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x, at = i * WIDTH, column = at % n, row = at / n;
  const Pack<WIDTH> in = x[i];
  Pack<2 * WIDTH> out;
#pragma unroll
  for (int k = 0; k < 2 * WIDTH; ++k) out.element[k] = in.element[k / 2];
  float* to = y + row * 2 * 2 * n + column * 2;
  *reinterpret_cast<Pack<2 * WIDTH>*>(to) = out;
  *reinterpret_cast<Pack<2 * WIDTH>*>(to + 2 * n) = out;
}

// x: (n, n, channels), y: (2 n, 2 n, channels)
__global__ void channels_last(const float4* x, float4* y, int n, int channels) {
  const int i = blockIdx.x * BLOCK + threadIdx.x, packs = channels / 4;
  const int channel = i % packs, column = i / packs % n, row = i / packs / n;
  const float4 in = __ldg(x + i);
  for (int k = 0; k < 4; ++k) y[((row * 2 + k / 2) * 2 * n + column * 2 + k % 2) * packs + channel] = in;
}
