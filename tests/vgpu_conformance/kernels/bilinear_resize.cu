// Planes resized by bilinear interpolation between the centres of pixels, channels apart or last.
//! define X=32 Y=8 FLAT=0 GRID=0 STAGED=0 LAST=0 PLANES=1 WIDTH=1
//! variant flat: FLAT=1
//! variant flat_quads: FLAT=1 WIDTH=4
//! variant block_32x8: GRID=1
//! variant block_8x32: GRID=1 X=8 Y=32
//! variant eight_planes: GRID=1 PLANES=8
//! variant staged_rows: STAGED=1
//! variant last: LAST=1
//! let planes = 64 small 32
//! let in = 192 small 24
//! let out = 320 small 64
//! input x f32[planes*in*in] random
//! buffer y f32[planes*out*out] poison
//! launch flat grid=(planes*out*out/(256*WIDTH)) block=(256) args=(x, y, i32:in, i32:out) when=FLAT
//! launch by_block grid=(out/X,out/Y,planes/PLANES) block=(X,Y) args=(x, y, i32:in, i32:out) when=GRID
//! launch staged_rows grid=(out,planes) block=(64) shared=in*4 args=(x, y, i32:in, i32:out) when=STAGED
//! launch channels_last grid=(out,out*planes/256) block=(planes,256/planes) args=(x, y, i32:in, i32:out, i32:planes) when=LAST
//! reference bilinear_resize
//! check y exactly, reference relative 2e-5

// The place of an output's centre among the inputs: between `low` and `high`, `part` of the way.
struct Place {
  int low, high;
  float part;
};

__device__ Place place_of(int i, int in, int out) {
  const float at = fmaxf(0.0f, (i + 0.5f) * (static_cast<float>(in) / out) - 0.5f);
  const int low = min(static_cast<int>(at), in - 1);
  return {low, min(low + 1, in - 1), at - low};
}

__device__ float between(float a, float b, float part) { return a + (b - a) * part; }

__device__ float sampled(const float* plane, int in, Place row, Place column) {
  const float *upper = plane + row.low * in, *lower = plane + row.high * in;
  return between(between(upper[column.low], upper[column.high], column.part),
                 between(lower[column.low], lower[column.high], column.part), row.part);
}

__global__ void flat(const float* x, float* y, int in, int out) {
  const int at = (blockIdx.x * 256 + threadIdx.x) * WIDTH;
  const int column = at % out, row = at / out % out, plane = at / (out * out);
  float values[WIDTH];
  for (int k = 0; k < WIDTH; ++k)
    values[k] = sampled(x + plane * in * in, in, place_of(row, in, out), place_of(column + k, in, out));
  if (WIDTH == 4)
    *reinterpret_cast<float4*>(y + at) = {values[0], values[1 % WIDTH], values[2 % WIDTH], values[3 % WIDTH]};
  else
    y[at] = values[0];
}

__global__ void by_block(const float* x, float* y, int in, int out) {
  const int column = blockIdx.x * X + threadIdx.x, row = blockIdx.y * Y + threadIdx.y;
  const Place down = place_of(row, in, out), along = place_of(column, in, out);
  for (int plane = blockIdx.z * PLANES; plane < (blockIdx.z + 1) * PLANES; ++plane)
    y[(plane * out + row) * out + column] = sampled(x + plane * in * in, in, down, along);
}

// The two rows that an output row lies between are mixed once.
__global__ void staged_rows(const float* x, float* y, int in, int out) {
  extern __shared__ float mixed[];
  const Place row = place_of(blockIdx.x, in, out);
  x += blockIdx.y * in * in;
  for (int i = threadIdx.x; i < in; i += blockDim.x) mixed[i] = between(x[row.low * in + i], x[row.high * in + i], row.part);
  __syncthreads();
  for (int i = threadIdx.x; i < out; i += blockDim.x) {
    const Place column = place_of(i, in, out);
    y[(blockIdx.y * out + blockIdx.x) * out + i] = between(mixed[column.low], mixed[column.high], column.part);
  }
}

// x: (in, in, channels), y: (out, out, channels)
__global__ void channels_last(const float* x, float* y, int in, int out, int channels) {
  const int c = threadIdx.x, row = blockIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  const Place down = place_of(row, in, out), along = place_of(column, in, out);
  const auto at = [&](int i, int j) { return x[(i * in + j) * channels + c]; };
  y[(row * out + column) * channels + c] =
      between(between(at(down.low, along.low), at(down.low, along.high), along.part),
              between(at(down.high, along.low), at(down.high, along.high), along.part), down.part);
}
