// One token of a slot attends to all before it. A block has some query heads of one key/value head and one slot, so
// that what it reads of the cache serves all of its heads, and how it adds up depends on the slot's own length only.
//
// A position's elements lie in `position_lanes` neighbouring lanes; a warp holds several positions at once. Each such
// group of lanes is a `place` that goes through every places-th position with a softmax of its own, and in the end all
// places are put together in a fixed order. Scores are in powers of two.

constexpr int attention_warps = attention_threads / 32;
constexpr int group = heads / kv_heads, half_head = head_size / 2, pairs_a_lane = (half_head + 31) / 32;
constexpr int places_a_warp = 32 / position_lanes, places = attention_warps * places_a_warp;
constexpr int lane_elements = position_vectors * vector_elements;  // of a position, in one lane
constexpr int positions_at_once = 4;                               // of a place: loads that are on their way together

__device__ __forceinline__ float minus_infinity() { return -cudal1::infinity<float>(); }

//! A head as the projection left it becomes what attention uses: bias, norm, turned by its position. A warp computes
//! it; `to` gets numbers that an Element can hold, times `factor`.
template <bool turned>
__device__ __forceinline__ void prepare_head(const Element* from, const Element* bias, const Element* norm,
                                             const float* cosines, const float* sines, float factor, float* to) {
  const int lane = threadIdx.x % 32;
  float first[pairs_a_lane], second[pairs_a_lane], squares = 0.0f;
#pragma unroll
  for (int pair = 0; pair < pairs_a_lane; ++pair) {
    const int i = lane + 32 * pair;
    first[pair] = i < half_head ? cudal1::to_float(from[i]) : 0.0f;
    second[pair] = i < half_head ? cudal1::to_float(from[i + half_head]) : 0.0f;
    if (has_bias && i < half_head) {
      first[pair] = rounded(first[pair] + cudal1::to_float(bias[i]));
      second[pair] = rounded(second[pair] + cudal1::to_float(bias[i + half_head]));
    }
    squares += first[pair] * first[pair] + second[pair] * second[pair];
  }
  if (turned && has_head_norm) {
    const float scale = rsqrtf(cudal1::warp_reduce<cudal1::Sum<float>>(squares) / head_size + norm_epsilon);
#pragma unroll
    for (int pair = 0; pair < pairs_a_lane; ++pair) {
      const int i = lane + 32 * pair;
      if (i >= half_head) continue;
      first[pair] = rounded(first[pair] * scale * cudal1::to_float(norm[i]));
      second[pair] = rounded(second[pair] * scale * cudal1::to_float(norm[i + half_head]));
    }
  }
#pragma unroll
  for (int pair = 0; pair < pairs_a_lane; ++pair) {
    const int i = lane + 32 * pair;
    if (i >= half_head) continue;
    const float a = first[pair], b = second[pair];
    to[i] = turned ? rounded(a * cosines[i] - b * sines[i]) * factor : a;
    to[i + half_head] = turned ? rounded(b * cosines[i] + a * sines[i]) * factor : b;
  }
}

//! What a place has seen so far, for each head: the largest score, and with weights 2^(score - largest) the sum of
//! weights and of weighted values.
struct Seen {
  float largest[block_heads], total[block_heads], values[block_heads][lane_elements];
};

//! This lane's elements of a position, `from` its first; those past the end of the head are zeros.
__device__ __forceinline__ void load_lane(const Element* from, int lane_in_position, bool there, Element* elements) {
#pragma unroll
  for (int v = 0; v < position_vectors; ++v) {
    const int at = (v * position_lanes + lane_in_position) * vector_elements;
    const auto loaded = there && at < head_size ? cudal1::load<vector_elements>(from + at)
                                                : cudal1::filled<vector_elements>(cudal1::from_float<Element>(0.0f));
#pragma unroll
    for (int i = 0; i < vector_elements; ++i) elements[v * vector_elements + i] = loaded[i];
  }
}

//! Some positions of a place.
template <int count>
struct Round {
  Element key[count][lane_elements], value[count][lane_elements];
  bool there[count];
};

//! The place's positions from `first` on, as far as they come before `position`.
__device__ __forceinline__ void load_round(const Element* keys, const Element* values, int first, int position,
                                           Round<positions_at_once>& round) {
  const int lane = threadIdx.x % 32, lane_in_position = lane % position_lanes;
  const int place = threadIdx.x / 32 * places_a_warp + lane / position_lanes;
#pragma unroll
  for (int p = 0; p < positions_at_once; ++p) {
    const int at = first + p * places + place;
    round.there[p] = at < position;
    load_lane(keys + static_cast<long long>(at) * head_size, lane_in_position, round.there[p], round.key[p]);
    load_lane(values + static_cast<long long>(at) * head_size, lane_in_position, round.there[p], round.value[p]);
  }
}

__device__ __forceinline__ float dot_over_lanes(const float* query, const Element* key) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < lane_elements; ++i) sum += query[i] * cudal1::to_float(key[i]);
  return cudal1::warp_reduce<cudal1::Sum<float>, position_lanes>(sum);
}

//! Takes in a round; all lanes of a warp must come.
template <int count>
__device__ __forceinline__ void see(Seen& seen, const float (&query)[block_heads][lane_elements],
                                    const Round<count>& round) {
#pragma unroll
  for (int head = 0; head < block_heads; ++head) {
    float score[count], largest = seen.largest[head];
#pragma unroll
    for (int p = 0; p < count; ++p) {
      const float dot = dot_over_lanes(query[head], round.key[p]);
      score[p] = round.there[p] ? dot : minus_infinity();
      largest = fmaxf(largest, score[p]);
    }
    const float reference = largest == minus_infinity() ? 0.0f : largest;  // nothing seen: all weights are 0
    const float shrink = exp2f(seen.largest[head] - reference);
    seen.largest[head] = largest;
    seen.total[head] *= shrink;
#pragma unroll
    for (int i = 0; i < lane_elements; ++i) seen.values[head][i] *= shrink;
#pragma unroll
    for (int p = 0; p < count; ++p) {
      const float weight = exp2f(score[p] - reference);
      seen.total[head] += weight;
#pragma unroll
      for (int i = 0; i < lane_elements; ++i) seen.values[head][i] += weight * cudal1::to_float(round.value[p][i]);
    }
  }
}

//! All places of a warp have seen the same afterwards.
__device__ __forceinline__ void join_places_of_warp(Seen& seen) {
#pragma unroll
  for (int head = 0; head < block_heads; ++head)
#pragma unroll
    for (int bits = position_lanes; bits < 32; bits *= 2) {
      const float other = cudal1::shuffle_xor(seen.largest[head], bits);
      const float largest = fmaxf(seen.largest[head], other);
      const float reference = largest == minus_infinity() ? 0.0f : largest;
      const float own_weight = exp2f(seen.largest[head] - reference), other_weight = exp2f(other - reference);
      seen.largest[head] = largest;
      seen.total[head] = own_weight * seen.total[head] + other_weight * cudal1::shuffle_xor(seen.total[head], bits);
#pragma unroll
      for (int i = 0; i < lane_elements; ++i)
        seen.values[head][i] =
            own_weight * seen.values[head][i] + other_weight * cudal1::shuffle_xor(seen.values[head][i], bits);
    }
}

struct AttentionShared {
  float queries[block_heads][head_size];
  float new_key[head_size], new_value[head_size];  // as an Element holds them
  float largest[attention_warps][block_heads], total[attention_warps][block_heads];
  float values[attention_warps][block_heads][head_size];
};

//! Which element of a head the i-th of a lane is.
__device__ __forceinline__ int element_of_lane(int lane_in_position, int i) {
  return (i / vector_elements * position_lanes + lane_in_position) * vector_elements + i % vector_elements;
}

//! Queries of this block's heads, key and value of the new token: a warp takes a head.
__device__ __forceinline__ void prepare_heads(AttentionShared& shared, const Element* projected, const Element* bias,
                                              const Element* query_norm, const Element* key_norm, const float* cosines,
                                              const float* sines, int first_head) {
  const int kv_head = first_head / group;
  for (int unit = threadIdx.x / 32; unit < block_heads + 2; unit += attention_warps) {
    if (unit < block_heads) {
      const int at = (first_head + unit) * head_size;
      prepare_head<true>(projected + at, bias + at, query_norm, cosines, sines, score_scale, shared.queries[unit]);
    } else if (unit == block_heads) {
      const int at = (heads + kv_head) * head_size;
      prepare_head<true>(projected + at, bias + at, key_norm, cosines, sines, 1.0f, shared.new_key);
    } else {
      const int at = (heads + kv_heads + kv_head) * head_size;
      prepare_head<false>(projected + at, bias + at, key_norm, cosines, sines, 1.0f, shared.new_value);
    }
  }
  __syncthreads();
}

//! All positions before the new one, of which the first round is there already; then the new one, which no other block
//! has written yet.
__device__ __forceinline__ void see_all(const AttentionShared& shared, const Element* keys, const Element* values,
                                        int position, Round<positions_at_once>& round, Seen& seen) {
  const int lane_in_position = threadIdx.x % 32 % position_lanes;
  float query[block_heads][lane_elements];
#pragma unroll
  for (int head = 0; head < block_heads; ++head) {
    seen.largest[head] = minus_infinity();
    seen.total[head] = 0.0f;
#pragma unroll
    for (int i = 0; i < lane_elements; ++i) {
      const int at = element_of_lane(lane_in_position, i);
      query[head][i] = at < head_size ? shared.queries[head][at] : 0.0f;
      seen.values[head][i] = 0.0f;
    }
  }
  for (int first = 0; first < position; first += places * positions_at_once) {  // the same for all lanes of a warp
    if (first > 0) load_round(keys, values, first, position, round);
    see(seen, query, round);
  }
  if (threadIdx.x < 32) {
    Round<1> last;
#pragma unroll
    for (int i = 0; i < lane_elements; ++i) {
      const int at = element_of_lane(lane_in_position, i);
      last.key[0][i] = cudal1::from_float<Element>(at < head_size ? shared.new_key[at] : 0.0f);
      last.value[0][i] = cudal1::from_float<Element>(at < head_size ? shared.new_value[at] : 0.0f);
    }
    last.there[0] = threadIdx.x < position_lanes;
    see(seen, query, last);
  }
}

//! What all warps have seen, put together; out (block_heads, head_size)
__device__ __forceinline__ void join_warps(AttentionShared& shared, const Seen& seen, Element* out) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane < position_lanes) {
#pragma unroll
    for (int head = 0; head < block_heads; ++head) {
      if (lane == 0) shared.largest[warp][head] = seen.largest[head];
      if (lane == 0) shared.total[warp][head] = seen.total[head];
#pragma unroll
      for (int i = 0; i < lane_elements; ++i) {
        const int at = element_of_lane(lane, i);
        if (at < head_size) shared.values[warp][head][at] = seen.values[head][i];
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < block_heads * head_size; i += attention_threads) {
    const int head = i / head_size, at = i % head_size;
    float largest = shared.largest[0][head], total = 0.0f, sum = 0.0f;  // warp 0 saw the new token: a number
    for (int w = 1; w < attention_warps; ++w) largest = fmaxf(largest, shared.largest[w][head]);
    for (int w = 0; w < attention_warps; ++w) {
      const float weight = exp2f(shared.largest[w][head] - largest);
      total += weight * shared.total[w][head];
      sum += weight * shared.values[w][head][at];
    }
    out[i] = cudal1::from_float<Element>(sum / total);
  }
}

//! projected (slots, heads + 2 * kv_heads, head_size): queries, keys, values. bias (heads + 2 * kv_heads, head_size),
//! norms (head_size). cosines and sines (capacity, half_head). keys and values (slots, kv_heads, capacity, head_size):
//! this layer's, which get the new token's. attended (slots, heads, head_size). Blocks: (heads / block_heads, slots).
extern "C" __global__ void __launch_bounds__(attention_threads)
    attend(const int* positions, const Element* projected, const Element* bias, const Element* query_norm,
           const Element* key_norm, const float* cosines, const float* sines, Element* keys, Element* values,
           Element* attended, int capacity) {
  __shared__ AttentionShared shared;
  const long long slot = blockIdx.y;
  const int position = positions[slot];
  if (position < 0) return;
  const int first_head = blockIdx.x * block_heads;
  const long long head_start = (slot * kv_heads + first_head / group) * capacity * head_size;
  Round<positions_at_once> round;
  load_round(keys + head_start, values + head_start, 0, position, round);  // on its way while heads are prepared

  projected += slot * (heads + 2 * kv_heads) * head_size;
  const long long angles = static_cast<long long>(position) * half_head;
  prepare_heads(shared, projected, bias, query_norm, key_norm, cosines + angles, sines + angles, first_head);
  if (first_head % group == 0)  // of the blocks that share a key/value head, one writes
    for (int i = threadIdx.x; i < head_size; i += attention_threads) {
      const long long at = head_start + static_cast<long long>(position) * head_size + i;
      keys[at] = cudal1::from_float<Element>(shared.new_key[i]);
      values[at] = cudal1::from_float<Element>(shared.new_value[i]);
    }
  Seen seen;
  see_all(shared, keys + head_start, values + head_start, position, round, seen);
  join_places_of_warp(seen);
  join_warps(shared, seen, attended + (slot * heads + first_head) * head_size);
}
