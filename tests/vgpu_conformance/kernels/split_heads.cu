// (tokens, 3, heads, 64) becomes (3, heads, tokens, 64): queries, keys and values of an attention, by head.
//! define BLOCK=256 WIDTH=1 PACK=float READ=0 WRITE=0 GRID=0 ROWS=4
//! variant in_order_of_reading: READ=1
//! variant in_order_of_reading_quads: READ=1 WIDTH=4 PACK=float4
//! variant in_order_of_writing: WRITE=1
//! variant in_order_of_writing_quads: WRITE=1 WIDTH=4 PACK=float4
//! variant by_grid: GRID=1
//! variant by_grid_quads: GRID=1 WIDTH=4 PACK=float4 ROWS=16
//! variant by_grid_quads_one_token: GRID=1 WIDTH=4 PACK=float4 ROWS=1
//! let tokens = 4096 small 64
//! let heads = 16 small 4
//! let elements = tokens*3*heads*64
//! input x f32[elements] random
//! buffer y f32[elements] poison
//! launch in_order_of_reading grid=(elements/(BLOCK*WIDTH)) block=(BLOCK) args=(x, y, i32:tokens, i32:heads) when=READ
//! launch in_order_of_writing grid=(elements/(BLOCK*WIDTH)) block=(BLOCK) args=(x, y, i32:tokens, i32:heads) when=WRITE
//! launch by_grid grid=(tokens/ROWS,heads,3) block=(64/WIDTH,ROWS) args=(x, y, i32:tokens, i32:heads) when=GRID
//! reference split_heads
//! check y exactly

using Pack = PACK;

constexpr int packs = 64 / WIDTH;

__global__ void in_order_of_reading(const Pack* x, Pack* y, int tokens, int heads) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const int column = i % packs, head = i / packs % heads, part = i / packs / heads % 3, token = i / packs / heads / 3;
  y[((part * heads + head) * tokens + token) * packs + column] = __ldg(x + i);
}

__global__ void in_order_of_writing(const Pack* x, Pack* y, int tokens, int heads) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const int column = i % packs, token = i / packs % tokens, head = i / packs / tokens % heads;
  const int part = i / packs / tokens / heads;
  y[i] = __ldg(x + ((token * 3 + part) * heads + head) * packs + column);
}

// No division: the grid names token, head and part.
__global__ void by_grid(const Pack* x, Pack* y, int tokens, int heads) {
  const int token = blockIdx.x * blockDim.y + threadIdx.y, head = blockIdx.y, part = blockIdx.z;
  y[((part * heads + head) * tokens + token) * packs + threadIdx.x] =
      __ldg(x + ((token * 3 + part) * heads + head) * packs + threadIdx.x);
}
