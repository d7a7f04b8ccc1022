// Reductions of a warp in one instruction: sum, least, greatest, bits.
//! let n = 2048
//! input x u32[n] random
//! buffer y u32[6*n/32] poison
//! launch reduce grid=(n/128) block=(128) args=(x, y)
//! reference warp_redux
//! check y exactly

__global__ void reduce(const unsigned* x, unsigned* y) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const unsigned own = x[i], mask = 0xffffffffu;
  const unsigned found[6] = {__reduce_add_sync(mask, own),
                             __reduce_min_sync(mask, own),
                             static_cast<unsigned>(__reduce_max_sync(mask, static_cast<int>(own))),
                             __reduce_and_sync(mask, own | 0xff00ff00u),
                             __reduce_or_sync(mask, own & 0x000ff000u),
                             __reduce_xor_sync(mask, own)};
  if (i % 32 == 0)
    for (int k = 0; k < 6; ++k) y[i / 32 * 6 + k] = found[k];
}
