// Three matrices side by side become one: by element, by quads, by row or by part.
//! define BLOCK=256 WIDTH=1 PACK=float FLAT=0 ROW=0 PART=0 WARP=0
//! variant element: FLAT=1
//! variant element_quads: FLAT=1 WIDTH=4 PACK=float4
//! variant block_per_row: ROW=1
//! variant block_per_row_quads: ROW=1 WIDTH=4 PACK=float4
//! variant warp_per_row_quads: WARP=1 WIDTH=4 PACK=float4
//! variant part_per_block_quads: PART=1 WIDTH=4 PACK=float4
//! let rows = 16384 small 64
//! let first = 512 small 128
//! let second = 256 small 128
//! let third = 128 small 64
//! let columns = first+second+third
//! input a f32[rows*first] random
//! input b f32[rows*second] random
//! input c f32[rows*third] random
//! buffer y f32[rows*columns] poison
//! launch flat grid=(rows*columns/(BLOCK*WIDTH)) block=(BLOCK) args=(a, b, c, y, i32:first, i32:second, i32:third) when=FLAT
//! launch by_row grid=(rows) block=(BLOCK) args=(a, b, c, y, i32:first, i32:second, i32:third) when=ROW
//! launch by_warp grid=(rows/(BLOCK/32)) block=(BLOCK) args=(a, b, c, y, i32:first, i32:second, i32:third) when=WARP
//! launch by_part grid=(rows/16,3) block=(32,8) args=(a, b, c, y, i32:first, i32:second, i32:third) when=PART
//! reference concat_columns
//! check y exactly

using Pack = PACK;

// Widths in packs.
__device__ Pack picked(const Pack* a, const Pack* b, const Pack* c, int row, int column, int first, int second,
                       int third) {
  if (column < first) return __ldg(a + row * first + column);
  if (column < first + second) return __ldg(b + row * second + column - first);
  return __ldg(c + row * third + column - first - second);
}

__global__ void flat(const Pack* a, const Pack* b, const Pack* c, Pack* y, int first, int second, int third) {
  const int i = blockIdx.x * BLOCK + threadIdx.x, columns = (first + second + third) / WIDTH;
  y[i] = picked(a, b, c, i / columns, i % columns, first / WIDTH, second / WIDTH, third / WIDTH);
}

__global__ void by_row(const Pack* a, const Pack* b, const Pack* c, Pack* y, int first, int second, int third) {
  const int columns = (first + second + third) / WIDTH;
  for (int i = threadIdx.x; i < columns; i += BLOCK)
    y[blockIdx.x * columns + i] = picked(a, b, c, blockIdx.x, i, first / WIDTH, second / WIDTH, third / WIDTH);
}

__device__ void copy_part(const Pack* from, Pack* to, int count, int lane) {
  for (int i = lane; i < count; i += 32) to[i] = __ldg(from + i);
}

__global__ void by_warp(const Pack* a, const Pack* b, const Pack* c, Pack* y, int first, int second, int third) {
  const int row = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const int n1 = first / WIDTH, n2 = second / WIDTH, n3 = third / WIDTH;
  Pack* to = y + row * (n1 + n2 + n3);
  copy_part(a + row * n1, to, n1, lane);
  copy_part(b + row * n2, to + n1, n2, lane);
  copy_part(c + row * n3, to + n1 + n2, n3, lane);
}

__global__ void by_part(const Pack* a, const Pack* b, const Pack* c, Pack* y, int first, int second, int third) {
  const int columns = (first + second + third) / WIDTH, part = blockIdx.y;
  const Pack* from = part == 0 ? a : part == 1 ? b : c;
  const int count = (part == 0 ? first : part == 1 ? second : third) / WIDTH;
  const int begin = (part == 0 ? 0 : part == 1 ? first : first + second) / WIDTH;
  for (int row = blockIdx.x * 16 + threadIdx.y; row < (blockIdx.x + 1) * 16; row += 8)
    copy_part(from + row * count, y + row * columns + begin, count, threadIdx.x);
}
