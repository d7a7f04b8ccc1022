// What ldmatrix hands to each lane: one, two and four matrices, straight and transposed.
//! input x u32[128] random
//! buffer y u32[6*128] zero
//! launch load grid=(1) block=(32) args=(x, y)
//! reference ldmatrix_layouts
//! check y exactly

__global__ void load(const unsigned* x, unsigned* y) {
  __shared__ __align__(16) unsigned rows[128];
  const int lane = threadIdx.x;
  for (int i = lane; i < 128; i += 32) rows[i] = x[i];
  __syncwarp();
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(rows)) + lane * 16;
  unsigned r[24] = {};
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[4]), "=r"(r[5]) : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[8]), "=r"(r[9]), "=r"(r[10]), "=r"(r[11])
               : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(r[12]) : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[16]), "=r"(r[17]) : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[20]), "=r"(r[21]), "=r"(r[22]), "=r"(r[23])
               : "r"(at));
  for (int i = 0; i < 24; ++i) y[i * 32 + lane] = r[i];
}
