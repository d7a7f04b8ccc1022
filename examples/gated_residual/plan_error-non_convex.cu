// Groups the product and the addition, but the tanh between them stays outside: the group would wait for itself.
//! kernel product_and_sum replaces mul_1 add_1 : grid=ceil_div(numel(x), 256) block=256 \
//!   args=(x, sigmoid_1, tanh_1, mul_1, add_1, i32:numel(x))
extern "C" __global__ void product_and_sum(const float* x, const float* gate, const float* tanh_of_product,
                                           float* product, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  product[i] = x[i] * gate[i];
  sum[i] = x[i] + tanh_of_product[i];
}
