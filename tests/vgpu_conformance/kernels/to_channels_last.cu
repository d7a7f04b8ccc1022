// (images, channels, pixels) becomes (images, pixels, channels): directly in either order, or through tiles.
//! define READ=0 WRITE=0 TILED=0 PADDING=1 ROWS=8 WIDTH=1
//! variant in_order_of_reading: READ=1
//! variant in_order_of_writing: WRITE=1
//! variant in_order_of_writing_quads: WRITE=1 WIDTH=4
//! variant tile: TILED=1
//! variant tile_conflicts: TILED=1 PADDING=0
//! variant tile_32_rows: TILED=1 ROWS=32
//! variant tile_4_rows: TILED=1 ROWS=4
//! let images = 32 small 2
//! let channels = 96 small 32
//! let pixels = 4096 small 256
//! let elements = images*channels*pixels
//! input x f32[elements] random
//! buffer y f32[elements] poison
//! launch in_order_of_reading grid=(elements/256) block=(256) args=(x, y, i32:channels, i32:pixels) when=READ
//! launch in_order_of_writing grid=(elements/(256*WIDTH)) block=(256) args=(x, y, i32:channels, i32:pixels) when=WRITE
//! launch by_tiles grid=(pixels/32,channels/32,images) block=(32,ROWS) args=(x, y, i32:channels, i32:pixels) when=TILED
//! reference to_channels_last
//! check y exactly

struct alignas(4 * WIDTH) Pack {
  float element[WIDTH];
};

__global__ void in_order_of_reading(const float* x, float* y, int channels, int pixels) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int pixel = i % pixels, channel = i / pixels % channels, image = i / pixels / channels;
  y[(image * pixels + pixel) * channels + channel] = x[i];
}

__global__ void in_order_of_writing(const float* x, Pack* y, int channels, int pixels) {
  const int i = blockIdx.x * 256 + threadIdx.x, at = i * WIDTH;
  const int channel = at % channels, pixel = at / channels % pixels, image = at / channels / pixels;
  Pack out;
  for (int k = 0; k < WIDTH; ++k) out.element[k] = x[(image * channels + channel + k) * pixels + pixel];
  y[i] = out;
}

__global__ void by_tiles(const float* x, float* y, int channels, int pixels) {
  __shared__ float tile[32][32 + PADDING];
  const int pixel = blockIdx.x * 32, channel = blockIdx.y * 32;
  x += (blockIdx.z * channels + channel) * pixels + pixel;
  y += (blockIdx.z * pixels + pixel) * channels + channel;
  for (int i = threadIdx.y; i < 32; i += ROWS) tile[i][threadIdx.x] = x[i * pixels + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += ROWS) y[i * channels + threadIdx.x] = tile[threadIdx.x][i];
}
