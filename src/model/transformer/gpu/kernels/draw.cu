// Draws each slot's next token as token_sampler.cpp does: one block a slot. Weights are integers, 2^44 for the most
// probable token: their sums are exact in any order, so that neither threads nor atomics can change what is drawn.
//
// What top_k, top_p and min_p leave is always a beginning of the tokens in the order of their weights (of equal ones
// the first ids come first): all above a threshold, and some of those that are right at it.

constexpr int draw_warps = draw_threads / 32;
constexpr int widest_draw = 16 / sizeof(Element), draw_elements = vocabulary % widest_draw == 0 ? widest_draw : 1;
constexpr int ids_a_step = 32 * draw_elements;  // of a warp
constexpr int ids_a_warp = ((vocabulary + draw_warps - 1) / draw_warps + ids_a_step - 1) / ids_a_step * ids_a_step;
constexpr float weight_unit = 17592186044416.0f;  // 2^44
constexpr int digit_bits = 10, digits = 1 << digit_bits;
static_assert(digits == draw_threads, "a thread looks after a digit");

using Count = unsigned long long;

struct DrawRequest {
  Count chance;  // of 2^53
  float temperature;
  int top_k;
  float top_p, min_p;
  int is_wanted, is_masked;
};

struct DrawResult {
  int id;
  float sampled_log_probability, policy_log_probability;
  int has_problem;  // scores are not numbers
};

struct Weigher {
  const Element* logits;
  float largest, inverse_temperature;
  __device__ __forceinline__ float weight(float logit) const { return expf((logit - largest) * inverse_temperature); }
};

__device__ __forceinline__ Count units(float weight) { return __float2ull_rn(weight * weight_unit); }

//! Bits of numbers that are not negative are in the order of the numbers.
__device__ __forceinline__ unsigned key_of(float weight) { return __float_as_uint(weight); }

//! Calls visit(id, logit) for this thread's share of all ids; a warp has neighbouring ones.
template <class Visit>
__device__ __forceinline__ void for_own_ids(const Element* logits, Visit visit) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int end = min(vocabulary, (warp + 1) * ids_a_warp);
  for (int id = warp * ids_a_warp + lane * draw_elements; id < end; id += ids_a_step) {
    const auto scores = cudal1::load<draw_elements>(logits + id);
#pragma unroll
    for (int i = 0; i < draw_elements; ++i) visit(id + i, cudal1::to_float(scores[i]));
  }
}

//! The last token of a beginning: `ties` tokens of this key belong to it, and all with larger keys.
struct Threshold {
  unsigned key;
  Count ties;
  Count weight_above;  // of the larger keys
  __device__ __forceinline__ Count weight() const { return weight_above + ties * units(__uint_as_float(key)); }
};

struct DrawShared {
  unsigned counts[digits];
  Count weights[digits];
  Count above[draw_warps], ties[draw_warps];
  unsigned digit;
  Count count_above, weight_above;
  int is_found;
};

//! How many tokens and how much weight each digit of the keys has, of those that begin with `prefix`.
__device__ __forceinline__ void count_digits(DrawShared& shared, const Weigher& weigher, unsigned prefix, int shift) {
  shared.counts[threadIdx.x] = 0;
  shared.weights[threadIdx.x] = 0;
  __syncthreads();
  for_own_ids(weigher.logits, [&](int, float logit) {
    const float weight = weigher.weight(logit);
    const unsigned key = key_of(weight);
    if (key == 0 || key >> (shift + digit_bits) != prefix) return;
    const unsigned digit = key >> shift & (digits - 1);
    atomicAdd(&shared.counts[digit], 1u);
    if (const Count own = units(weight)) atomicAdd(&shared.weights[digit], own);
  });
  __syncthreads();
}

//! The shortest beginning with `limit` tokens, or with so much weight; false where all together have less. All
//! threads get it. Finds the key digit by digit, the largest first.
template <bool by_weight>
__device__ __forceinline__ bool find_threshold(DrawShared& shared, const Weigher& weigher, Count limit,
                                               Threshold& found) {
  unsigned prefix = 0;
  Count count_above = 0, weight_above = 0;
  for (int shift = 2 * digit_bits; shift >= 0; shift -= digit_bits) {
    count_digits(shared, weigher, prefix, shift);
    const unsigned digit = digits - 1 - threadIdx.x;
    const Count count = shared.counts[digit], weight = shared.weights[digit];
    if (threadIdx.x == 0) shared.is_found = 0;
    const Count own = by_weight ? weight : count;
    const Count counts = count_above + cudal1::block_exclusive_scan<cudal1::Sum<Count>, draw_threads>(count);
    const Count weights = weight_above + cudal1::block_exclusive_scan<cudal1::Sum<Count>, draw_threads>(weight);
    const Count before = by_weight ? weights : counts;
    if (before < limit && limit <= before + own) {
      shared.is_found = 1;
      shared.digit = digit;
      shared.count_above = counts;
      shared.weight_above = weights;
    }
    __syncthreads();
    if (!shared.is_found) return false;
    prefix = prefix << digit_bits | shared.digit;
    count_above = shared.count_above;
    weight_above = shared.weight_above;
    __syncthreads();  // read by all before it is written again
  }
  const Count each = units(__uint_as_float(prefix));
  found.key = prefix;
  found.weight_above = weight_above;
  found.ties = by_weight ? (limit - weight_above + each - 1) / each : limit - count_above;
  return true;
}

//! In the order of token_sampler.hpp: top_k of all, top_p of what that leaves, min_p of the largest weight.
__device__ __forceinline__ Threshold threshold_of(DrawShared& shared, const Weigher& weigher,
                                                  const DrawRequest& request, Count weight_of_all) {
  Threshold threshold{0u, 0, weight_of_all};  // all
  if (request.top_k > 0) {
    Threshold found;
    if (find_threshold<false>(shared, weigher, request.top_k, found)) threshold = found;
  }
  if (request.top_p < 1.0f) {
    const double wanted = ceil(static_cast<double>(request.top_p) * static_cast<double>(threshold.weight()));
    Threshold found;
    if (find_threshold<true>(shared, weigher, static_cast<Count>(fmax(wanted, 1.0)), found)) threshold = found;
  }
  const unsigned least_key = key_of(request.min_p);
  if (request.min_p > 0.0f && least_key > threshold.key) threshold = {least_key - 1, 0, 0};
  return threshold;
}

//! The token at `target` when those that are left lie side by side in the order of their ids. One warp, whose ids have
//! it: `ties` of the ids before them are at the threshold.
__device__ __forceinline__ int find_id(const Weigher& weigher, const Threshold& threshold, Count target, Count ties) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Count before = 0;
  for (int first = warp * ids_a_warp; first < vocabulary; first += ids_a_step) {
    const int id = first + lane * draw_elements;
    const bool there = id < vocabulary;
    const auto scores = there ? cudal1::load<draw_elements>(weigher.logits + id)
                              : cudal1::filled<draw_elements>(cudal1::from_float<Element>(0.0f));
    float weights[draw_elements];
    Count own_ties = 0;
#pragma unroll
    for (int i = 0; i < draw_elements; ++i) {
      weights[i] = there ? weigher.weight(cudal1::to_float(scores[i])) : 0.0f;
      own_ties += there && key_of(weights[i]) == threshold.key;
    }
    const Count ties_here = cudal1::warp_inclusive_scan<cudal1::Sum<Count>>(own_ties);
    Count tie = ties + ties_here - own_ties, own = 0, parts[draw_elements];
#pragma unroll
    for (int i = 0; i < draw_elements; ++i) {
      const unsigned key = key_of(weights[i]);
      const bool at_threshold = there && key == threshold.key;
      parts[i] = key > threshold.key || (at_threshold && tie < threshold.ties) ? units(weights[i]) : 0;
      tie += at_threshold;
      own += parts[i];
    }
    const Count sum = before + cudal1::warp_inclusive_scan<cudal1::Sum<Count>>(own);
    const unsigned past = __ballot_sync(0xffffffffu, sum > target);
    if (past != 0) {
      const int owner = __ffs(static_cast<int>(past)) - 1;
      Count reached = sum - own;
      int chosen = -1;
#pragma unroll
      for (int i = 0; i < draw_elements; ++i) {
        reached += parts[i];
        if (chosen < 0 && reached > target) chosen = id + i;
      }
      return __shfl_sync(0xffffffffu, chosen, owner);
    }
    before = cudal1::shuffle(sum, 31);
    ties += cudal1::shuffle(ties_here, 31);
  }
  return -1;
}

//! Of all ids: what the policy and what the temperature make of them.
struct Totals {
  Count policy, weight;
};
__device__ __forceinline__ Totals total_weights(const Weigher& weigher) {
  Totals own{0, 0};
  const bool is_policy = weigher.inverse_temperature == 1.0f;
  for_own_ids(weigher.logits, [&](int, float logit) {
    const Count weight = units(weigher.weight(logit));
    own.weight += weight;
    own.policy += is_policy ? weight : units(expf(logit - weigher.largest));
  });
  return {cudal1::block_reduce<cudal1::Sum<Count>, draw_threads>(own.policy),
          cudal1::block_reduce<cudal1::Sum<Count>, draw_threads>(own.weight)};
}

//! How much weight and how many ties each warp's ids have.
__device__ __forceinline__ void count_warps(DrawShared& shared, const Weigher& weigher, const Threshold& threshold) {
  Count above = 0, ties = 0;
  for_own_ids(weigher.logits, [&](int, float logit) {
    const float weight = weigher.weight(logit);
    if (key_of(weight) > threshold.key) above += units(weight);
    ties += key_of(weight) == threshold.key;
  });
  above = cudal1::warp_reduce<cudal1::Sum<Count>>(above);
  ties = cudal1::warp_reduce<cudal1::Sum<Count>>(ties);
  if (threadIdx.x % 32 == 0) {
    shared.above[threadIdx.x / 32] = above;
    shared.ties[threadIdx.x / 32] = ties;
  }
  __syncthreads();
}

//! Which warp's ids hold the drawn token, what comes before them, and what all that are left weigh.
struct DrawnPlace {
  int warp;
  Count target, ties, total;  // target: from the warp's first id on
};
__device__ __forceinline__ DrawnPlace drawn_place(const DrawShared& shared, const Threshold& threshold, Count chance) {
  const Count each = units(__uint_as_float(threshold.key));
  const auto kept_ties = [&](int warp, Count before) {
    return before >= threshold.ties ? 0 : min(shared.ties[warp], threshold.ties - before);
  };
  DrawnPlace place{0, 0, 0, 0};
  Count ties = 0;
  for (int warp = 0; warp < draw_warps; ++warp) {
    place.total += shared.above[warp] + kept_ties(warp, ties) * each;
    ties += shared.ties[warp];
  }
  // floor(chance * total / 2^53): chance has 53 bits, so shifting it by 11 makes the high half of the product just that
  place.target = __umul64hi(chance << 11, place.total);
  for (; place.warp < draw_warps - 1; ++place.warp) {
    const Count weight = shared.above[place.warp] + kept_ties(place.warp, place.ties) * each;
    if (place.target < weight) break;
    place.target -= weight;
    place.ties += shared.ties[place.warp];
  }
  return place;
}

//! Before `draw`: of slots with a mask, tokens that may not come get a score with which none is drawn. masks (slots,
//! draw_mask_words): bit id % 32 of word id / 32. blockIdx.y goes along a row.
extern "C" __global__ void __launch_bounds__(row_threads)
    keep_allowed(Element* logits, const DrawRequest* requests, const unsigned* masks) {
  const long long slot = blockIdx.x;
  const int id = blockIdx.y * row_threads + threadIdx.x;
  if (id >= vocabulary || !requests[slot].is_wanted || !requests[slot].is_masked) return;
  const unsigned bits = masks[slot * draw_mask_words + id / 32];
  if ((bits >> (id % 32) & 1u) == 0u)
    logits[slot * vocabulary + id] = cudal1::from_float<Element>(-cudal1::infinity<float>());
}

//! logits (slots, vocabulary), requests and results (slots)
extern "C" __global__ void __launch_bounds__(draw_threads)
    draw(const Element* logits, const DrawRequest* requests, DrawResult* results) {
  __shared__ DrawShared shared;
  const long long slot = blockIdx.x;
  const DrawRequest request = requests[slot];
  if (!request.is_wanted) return;
  logits += slot * vocabulary;

  using Best = cudal1::ArgMax<float>;
  Best::Value own = Best::identity();
  for_own_ids(logits, [&](int id, float logit) { own = Best::add(own, logit, id); });
  const Best::Value best = cudal1::block_reduce<Best, draw_threads>(own);
  if (!(fabsf(best.value) < cudal1::infinity<float>())) {  // NaN is larger than all
    if (threadIdx.x == 0) results[slot] = {0, 0.0f, 0.0f, 1};
    return;
  }
  const bool is_greedy = request.temperature == 0.0f;
  const Weigher weigher{logits, best.value, is_greedy ? 1.0f : 1.0f / request.temperature};
  const Totals totals = total_weights(weigher);
  const double normaliser = best.value + log(static_cast<double>(totals.policy) / weight_unit);
  if (is_greedy) {
    if (threadIdx.x == 0) results[slot] = {best.index, 0.0f, static_cast<float>(best.value - normaliser), 0};
    return;
  }
  const Threshold threshold = threshold_of(shared, weigher, request, totals.weight);
  count_warps(shared, weigher, threshold);
  const DrawnPlace place = drawn_place(shared, threshold, request.chance);
  if (threadIdx.x / 32 != place.warp) return;
  const int id = find_id(weigher, threshold, place.target, place.ties);
  if (threadIdx.x % 32 != 0) return;
  const float logit = cudal1::to_float(logits[id]);
  const double share = static_cast<double>(weigher.weight(logit)) / (static_cast<double>(place.total) / weight_unit);
  results[slot] = {id, static_cast<float>(log(share)), static_cast<float>(logit - normaliser), 0};
}
