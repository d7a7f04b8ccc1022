// Check sums of records of 64 bytes: bit by bit, and by a table in constant memory.
//! let n = 256
//! input bytes u8[64*n] random
//! buffer slow u32[n] poison
//! buffer quick u32[n] poison
//! launch check grid=(n/64) block=(64) args=(bytes, slow, quick)
//! reference crc32
//! check slow exactly
//! check quick exactly

__constant__ unsigned by_nibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                       0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

__global__ void check(const unsigned char* bytes, unsigned* slow, unsigned* quick) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  unsigned a = ~0u, b = ~0u;
  for (int k = 0; k < 64; ++k) {
    const unsigned byte = bytes[i * 64 + k];
    a ^= byte;
    for (int bit = 0; bit < 8; ++bit) a = a >> 1 ^ (a & 1u ? 0xedb88320u : 0u);
    b = b >> 4 ^ by_nibble[(b ^ byte) & 15u];
    b = b >> 4 ^ by_nibble[(b ^ byte >> 4) & 15u];
  }
  slow[i] = ~a;
  quick[i] = ~b;
}
