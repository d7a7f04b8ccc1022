// What happens to a slot's hidden state between matrix products: one block a slot. A slot whose position is negative
// has no token in this step, and nothing of it is touched.

//! As an Element would keep it: PyTorch rounds after every operation, and so do we, or decoding and training drift
//! apart.
__device__ __forceinline__ float rounded(float x) { return cudal1::to_float(cudal1::from_float<Element>(x)); }

//! x / rms(x) * weight, in fp32 and rounded once. Threads read those elements of x that they wrote themselves.
__device__ __forceinline__ void write_norm(const Element* x, float own_squares, const Element* weight,
                                           Element* normed) {
  const float squares = cudal1::block_reduce<cudal1::Sum<float>, row_threads>(own_squares);
  const float scale = rsqrtf(squares / hidden + norm_epsilon);
  for (int i = threadIdx.x; i < hidden; i += row_threads)
    normed[i] = cudal1::from_float<Element>(cudal1::to_float(x[i]) * scale * cudal1::to_float(weight[i]));
}

//! x = embedding[token], and its norm. tokens and positions (slots), embedding (vocabulary, hidden), x and normed
//! (slots, hidden)
extern "C" __global__ void __launch_bounds__(row_threads)
    embed_and_norm(const int* tokens, const int* positions, const Element* embedding, const Element* weight, Element* x,
                   Element* normed) {
  const long long slot = blockIdx.x;
  if (positions[slot] < 0) return;
  const Element* from = embedding + static_cast<long long>(tokens[slot]) * hidden;
  x += slot * hidden;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < hidden; i += row_threads) {
    x[i] = from[i];
    const float value = cudal1::to_float(from[i]);
    squares += value * value;
  }
  write_norm(x, squares, weight, normed + slot * hidden);
}

//! x += delta, and its norm; all (slots, hidden)
extern "C" __global__ void __launch_bounds__(row_threads)
    add_and_norm(const int* positions, const Element* delta, const Element* weight, Element* x, Element* normed) {
  const long long slot = blockIdx.x;
  if (positions[slot] < 0) return;
  delta += slot * hidden;
  x += slot * hidden;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < hidden; i += row_threads) {
    const float sum = rounded(cudal1::to_float(x[i]) + cudal1::to_float(delta[i]));
    x[i] = cudal1::from_float<Element>(sum);
    squares += sum * sum;
  }
  write_norm(x, squares, weight, normed + slot * hidden);
}

//! silu(gate) * up. gate_and_up (slots, 2, feed_forward), out (slots, feed_forward); blockIdx.x goes along a row
extern "C" __global__ void __launch_bounds__(row_threads)
    gate(const int* positions, const Element* gate_and_up, Element* out) {
  const long long slot = blockIdx.y;
  const int i = blockIdx.x * row_threads + threadIdx.x;
  if (positions[slot] < 0 || i >= feed_forward) return;
  const Element* row = gate_and_up + slot * 2 * feed_forward;
  const float opened = cudal1::to_float(row[i]), up = cudal1::to_float(row[feed_forward + i]);
  out[slot * feed_forward + i] = cudal1::from_float<Element>(rounded(opened / (1.0f + expf(-opened))) * up);
}
