// Takes the view t_1 as its argument: same memory as x, with sizes and strides of its own.
//! kernel copy_strided replaces contiguous_1 : grid=ceil_div(numel(t_1), 256) block=256 \
//!   args=(t_1, contiguous_1, i32:numel(t_1), i32:t_1.size(1), i64:t_1.stride(0), i64:t_1.stride(1))
extern "C" __global__ void copy_strided(const float* from, float* to, int count, int columns, long long row_stride,
                                        long long column_stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[(i / columns) * row_stride + (i % columns) * column_stride];
}
