// Long polynomials: chains of dependent multiply-adds, by how many run side by side and how many warps there is room for.
//! define CHAINS=1 BLOCK=256 TYPE=f32 RESERVED=0
//! variant one_chain: CHAINS=1
//! variant two_chains: CHAINS=2
//! variant four_chains: CHAINS=4
//! variant eight_chains: CHAINS=8
//! variant one_chain_few_warps: CHAINS=1 RESERVED=45056
//! variant four_chains_few_warps: CHAINS=4 RESERVED=45056
//! variant four_chains_double: CHAINS=4 TYPE=f64
//! let n = 1048576 small 8192
//! let degree = 512 small 64
//! input x TYPE[n] between -0.9 0.9
//! buffer y TYPE[n] poison
//! launch polynomial grid=(n/(BLOCK*CHAINS)) block=(BLOCK) shared=RESERVED args=(x, y, i32:degree)
//! reference polynomial
//! check y exactly, reference relative 1e-6

using f32 = float;
using f64 = double;

// 1 + x (1 + x (1 + …)). RESERVED: bytes of shared memory that nobody uses, so that fewer blocks fit.
__global__ void polynomial(const TYPE* x, TYPE* y, int degree) {
  TYPE own[CHAINS], sum[CHAINS];
  const int first = blockIdx.x * (BLOCK * CHAINS) + threadIdx.x;
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) {
    own[chain] = x[first + chain * BLOCK];
    sum[chain] = TYPE(1);
  }
#pragma unroll 4
  for (int i = 0; i < degree; ++i)
#pragma unroll
    for (int chain = 0; chain < CHAINS; ++chain) sum[chain] = fma(sum[chain], own[chain], TYPE(1));
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) y[first + chain * BLOCK] = sum[chain];
}
