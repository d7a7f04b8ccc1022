// What happens between the matrix products of a training step, forward and backward. Rows are the positions of packed
// texts; computations are in fp32, what is kept is rounded once.

//! As an Element would keep it.
__device__ __forceinline__ float rounded(float x) { return cudal1::to_float(cudal1::from_float<Element>(x)); }

// --- norms: one block a row, each thread has some pairs of neighbouring elements

constexpr int norm_pairs = (hidden / 2 + norm_threads - 1) / norm_threads;

//! Calls visit(pair, element) for this thread's pairs of a row.
template <class Visit>
__device__ __forceinline__ void for_own_pairs(Visit visit) {
#pragma unroll
  for (int pair = 0; pair < norm_pairs; ++pair) {
    const int element = 2 * (threadIdx.x + pair * norm_threads);
    if (element < hidden) visit(pair, element);
  }
}

using Pair = cudal1::Vector<float, 2>;

//! sum = x + delta, where there is a delta; else sum is not written and x stands for it. normed = sum / rms(sum) *
//! weight; scales = 1 / rms(sum). x, delta, sum and normed (rows, hidden), scales (rows)
extern "C" __global__ void __launch_bounds__(norm_threads)
    add_and_norm(const Element* x, const Element* delta, const Element* weight, Element* sum, Element* normed,
                 float* scales, int has_delta) {
  const long long begin = static_cast<long long>(blockIdx.x) * hidden;
  Pair values[norm_pairs];
  float squares = 0.0f;
  for_own_pairs([&](int pair, int element) {
    Pair value = cudal1::to_float(cudal1::load<2>(x + begin + element));
    if (has_delta) {
      const Pair more = cudal1::to_float(cudal1::load<2>(delta + begin + element));
      value[0] = rounded(value[0] + more[0]);
      value[1] = rounded(value[1] + more[1]);
      cudal1::store(sum + begin + element, cudal1::from_float<Element>(value));
    }
    squares += value[0] * value[0] + value[1] * value[1];
    values[pair] = value;
  });
  const float scale = rsqrtf(cudal1::block_reduce<cudal1::Sum<float>, norm_threads>(squares) / hidden + norm_epsilon);
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for_own_pairs([&](int pair, int element) {
    const Pair factors = cudal1::to_float(cudal1::load<2>(weight + element));
    Pair out;
    out[0] = values[pair][0] * scale * factors[0];
    out[1] = values[pair][1] * scale * factors[1];
    cudal1::store(normed + begin + element, cudal1::from_float<Element>(out));
  });
}

//! gradient (of sum) = what it was, where it adds, + that of normed through the norm; weight_parts (blocks, hidden):
//! what each block's rows add to the weight's gradient, where it is wanted. A block has every gridDim.x-th row.
extern "C" __global__ void __launch_bounds__(norm_threads)
    norm_backward(const Element* sum, const Element* weight, const float* scales, const Element* normed_gradient,
                  Element* gradient, float* weight_parts, int rows, int adds, int wants_weight) {
  Pair factors[norm_pairs], weight_sums[norm_pairs];
  for_own_pairs([&](int pair, int element) {
    factors[pair] = cudal1::to_float(cudal1::load<2>(weight + element));
    weight_sums[pair] = cudal1::filled<2>(0.0f);
  });
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const long long begin = static_cast<long long>(row) * hidden;
    Pair values[norm_pairs], slopes[norm_pairs], sums[norm_pairs];  // all is on its way before anybody waits
    float dot = 0.0f;
    for_own_pairs([&](int pair, int element) {
      sums[pair] = cudal1::filled<2>(0.0f);
      if (adds) sums[pair] = cudal1::to_float(cudal1::load<2>(gradient + begin + element));
      values[pair] = cudal1::to_float(cudal1::load<2>(sum + begin + element));
      slopes[pair] = cudal1::to_float(cudal1::load<2>(normed_gradient + begin + element));
#pragma unroll
      for (int i = 0; i < 2; ++i) dot += factors[pair][i] * slopes[pair][i] * values[pair][i];
    });
    dot = cudal1::block_reduce<cudal1::Sum<float>, norm_threads>(dot);
    const float scale = scales[row], along = scale * scale * scale * dot / hidden;
    for_own_pairs([&](int pair, int element) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        sums[pair][i] += scale * factors[pair][i] * slopes[pair][i] - along * values[pair][i];
        weight_sums[pair][i] += slopes[pair][i] * values[pair][i] * scale;
      }
      cudal1::store(gradient + begin + element, cudal1::from_float<Element>(sums[pair]));
    });
  }
  if (!wants_weight) return;
  for_own_pairs([&](int pair, int element) {
    cudal1::store(weight_parts + static_cast<long long>(blockIdx.x) * hidden + element, weight_sums[pair]);
  });
}

// --- rotary positions: one block a row; angles are cosines and sines (rows, head_size / 2)

constexpr int half_head = head_size / 2, all_heads = heads + 2 * kv_heads;
constexpr int turn_elements = half_head % 4 == 0 ? 4 : half_head % 2 == 0 ? 2 : 1;
constexpr int turns_a_head = half_head / turn_elements;

//! Turns elements (i, i + head_size / 2) of one head by the angle, or back.
__device__ __forceinline__ void turn(const Element* from, Element* to, const float* cosines, const float* sines,
                                     float direction) {
  const auto a = cudal1::to_float(cudal1::load<turn_elements>(from));
  const auto b = cudal1::to_float(cudal1::load<turn_elements>(from + half_head));
  const auto c = cudal1::load<turn_elements>(cosines), s = cudal1::load<turn_elements>(sines);
  cudal1::Vector<float, turn_elements> first, second;
#pragma unroll
  for (int i = 0; i < turn_elements; ++i) {
    first[i] = a[i] * c[i] - b[i] * (direction * s[i]);
    second[i] = b[i] * c[i] + a[i] * (direction * s[i]);
  }
  cudal1::store(to, cudal1::from_float<Element>(first));
  cudal1::store(to + half_head, cudal1::from_float<Element>(second));
}

//! Queries and keys of projected (rows, heads + 2 kv_heads, head_size), in place.
extern "C" __global__ void __launch_bounds__(turn_threads)
    rotate(Element* projected, const float* cosines, const float* sines) {
  const long long row = blockIdx.x;
  for (int item = threadIdx.x; item < (heads + kv_heads) * turns_a_head; item += turn_threads) {
    const int head = item / turns_a_head, place = item % turns_a_head * turn_elements;
    Element* at = projected + (row * all_heads + head) * head_size + place;
    turn(at, at, cosines + row * half_head + place, sines + row * half_head + place, 1.0f);
  }
}

//! Gradients of turned queries (rows, heads, head_size), turned keys and values (rows, kv_heads, head_size) -> of
//! projected.
extern "C" __global__ void __launch_bounds__(turn_threads)
    rotate_back(const Element* queries, const Element* keys, const Element* values, const float* cosines,
                const float* sines, Element* projected) {
  const long long row = blockIdx.x;
  for (int item = threadIdx.x; item < all_heads * turns_a_head; item += turn_threads) {
    const int head = item / turns_a_head, place = item % turns_a_head * turn_elements;
    Element* to = projected + (row * all_heads + head) * head_size + place;
    const float *c = cosines + row * half_head + place, *s = sines + row * half_head + place;
    if (head < heads) {
      turn(queries + (row * heads + head) * head_size + place, to, c, s, -1.0f);
    } else if (head < heads + kv_heads) {
      turn(keys + (row * kv_heads + head - heads) * head_size + place, to, c, s, -1.0f);
    } else {
      const Element* from = values + (row * kv_heads + head - heads - kv_heads) * head_size + place;
      cudal1::store(to, cudal1::load<turn_elements>(from));
      cudal1::store(to + half_head, cudal1::load<turn_elements>(from + half_head));
    }
  }
}

// --- gates: gate_and_up (rows, 2, feed_forward); each thread has one vector of all rows

constexpr int widest = 16 / sizeof(Element);
constexpr int gate_elements = feed_forward % widest == 0 ? widest : 1;
constexpr int gate_vectors = feed_forward / gate_elements;  // of a row

//! out = silu(gate) * up (rows, feed_forward)
extern "C" __global__ void __launch_bounds__(gate_threads) gate(const Element* gate_and_up, Element* out, int rows) {
  const long long item = static_cast<long long>(blockIdx.x) * gate_threads + threadIdx.x;
  if (item >= static_cast<long long>(rows) * gate_vectors) return;
  const long long row = item / gate_vectors;
  const int place = static_cast<int>(item % gate_vectors) * gate_elements;
  const Element* from = gate_and_up + row * 2 * feed_forward + place;
  const auto gates = cudal1::to_float(cudal1::load<gate_elements>(from));
  const auto ups = cudal1::to_float(cudal1::load<gate_elements>(from + feed_forward));
  cudal1::Vector<float, gate_elements> products;
#pragma unroll
  for (int i = 0; i < gate_elements; ++i) products[i] = rounded(gates[i] / (1.0f + expf(-gates[i]))) * ups[i];
  cudal1::store(out + row * feed_forward + place, cudal1::from_float<Element>(products));
}

//! gate_and_up becomes its gradient.
extern "C" __global__ void __launch_bounds__(gate_threads)
    gate_backward(Element* gate_and_up, const Element* out_gradient, int rows) {
  const long long item = static_cast<long long>(blockIdx.x) * gate_threads + threadIdx.x;
  if (item >= static_cast<long long>(rows) * gate_vectors) return;
  const long long row = item / gate_vectors;
  const int place = static_cast<int>(item % gate_vectors) * gate_elements;
  Element* at = gate_and_up + row * 2 * feed_forward + place;
  auto gates = cudal1::to_float(cudal1::load<gate_elements>(at));
  auto ups = cudal1::to_float(cudal1::load<gate_elements>(at + feed_forward));
  const auto slopes = cudal1::to_float(cudal1::load<gate_elements>(out_gradient + row * feed_forward + place));
#pragma unroll
  for (int i = 0; i < gate_elements; ++i) {
    const float open = 1.0f / (1.0f + expf(-gates[i])), opened = gates[i] * open;
    gates[i] = slopes[i] * ups[i] * open * (1.0f + gates[i] - opened);
    ups[i] = slopes[i] * rounded(opened);
  }
  cudal1::store(at, cudal1::from_float<Element>(gates));
  cudal1::store(at + feed_forward, cudal1::from_float<Element>(ups));
}

// --- scores of the next token: logits (rows, vocabulary)

constexpr int score_elements = vocabulary % widest == 0 ? widest : 1;

//! Which tokens may follow: bit id % 32 of word id / 32; null: all. A row of masks (masks, mask_words), -1: null.
__device__ __forceinline__ const unsigned* mask_of(const unsigned* masks, const int* mask_rows, int has_masks,
                                                   long long row) {
  if (!has_masks || mask_rows[row] < 0) return nullptr;
  return masks + static_cast<long long>(mask_rows[row]) * mask_words;
}

//! The bits of score_elements tokens from id on, which lie in one word.
__device__ __forceinline__ unsigned allowed_from(const unsigned* mask, int id) {
  return mask ? mask[id / 32] >> (id % 32) : 0xffffffffu;
}

//! log_sums = log of the sum of exp(logits) over the tokens that may follow; log_probabilities = logits[target] -
//! log_sums, of a target that may not follow minus infinity. One block a row.
extern "C" __global__ void __launch_bounds__(score_threads)
    score(const Element* logits, const long long* targets, const unsigned* masks, const int* mask_rows, int has_masks,
          float* log_probabilities, float* log_sums) {
  using LogSum = cudal1::LogSumExp<float>;
  const long long row = blockIdx.x;
  const unsigned* mask = mask_of(masks, mask_rows, has_masks, row);
  logits += row * vocabulary;
  typename LogSum::Value own = LogSum::identity();
  for (int id = threadIdx.x * score_elements; id < vocabulary; id += score_threads * score_elements) {
    auto scores = cudal1::to_float(cudal1::load<score_elements>(logits + id));
    if (mask) {
      const unsigned allowed = allowed_from(mask, id);
      bool may_any = false;
#pragma unroll
      for (int i = 0; i < score_elements; ++i) {
        const bool may_follow = (allowed >> i & 1u) != 0u;
        may_any = may_any || may_follow;
        if (!may_follow) scores[i] = -cudal1::infinity<float>();
      }
      if (!may_any) continue;
    }
    float largest = scores[0];
#pragma unroll
    for (int i = 1; i < score_elements; ++i) largest = fmaxf(largest, scores[i]);
    if (largest > own.maximum) {
      own.sum *= __expf(own.maximum - largest);
      own.maximum = largest;
    }
#pragma unroll
    for (int i = 0; i < score_elements; ++i) own.sum += __expf(scores[i] - own.maximum);
  }
  const float log_sum = LogSum::log_sum_exp(cudal1::block_reduce<LogSum, score_threads>(own));
  if (threadIdx.x != 0) return;
  log_sums[row] = log_sum;
  const int target = static_cast<int>(targets[row]);
  const bool may_follow = (allowed_from(mask, target) & 1u) != 0u;
  log_probabilities[row] = may_follow ? cudal1::to_float(logits[target]) - log_sum : -cudal1::infinity<float>();
}

//! logits become the gradient of slopes[row] * log_probabilities[row]. blockIdx.y goes along a row.
extern "C" __global__ void __launch_bounds__(score_threads)
    score_backward(Element* logits, const long long* targets, const unsigned* masks, const int* mask_rows,
                   int has_masks, const float* log_sums, const float* slopes) {
  const long long row = blockIdx.x;
  const int id = (blockIdx.y * score_threads + threadIdx.x) * score_elements;
  if (id >= vocabulary) return;
  logits += row * vocabulary + id;
  const unsigned allowed = allowed_from(mask_of(masks, mask_rows, has_masks, row), id);
  const float log_sum = log_sums[row], slope = slopes[row];
  const int target = static_cast<int>(targets[row]) - id;
  auto values = cudal1::to_float(cudal1::load<score_elements>(logits));
#pragma unroll
  for (int i = 0; i < score_elements; ++i)
    values[i] =
        (allowed >> i & 1u) != 0u ? slope * ((i == target ? 1.0f : 0.0f) - __expf(values[i] - log_sum)) : 0.0f;
  cudal1::store(logits, cudal1::from_float<Element>(values));
}
