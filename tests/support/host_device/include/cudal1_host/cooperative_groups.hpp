// The part of cooperative groups that lives inside a block.
#pragma once

#include "threads.hpp"

namespace cooperative_groups {

class thread_block {
 public:
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() {
    const auto& state = cudal1_host::current();
    return (state.thread.z * state.block_dim.y + state.thread.y) * state.block_dim.x + state.thread.x;
  }
  static unsigned size() {
    const auto& dim = cudal1_host::current().block_dim;
    return dim.x * dim.y * dim.z;
  }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return cudal1_host::current().block; }
  static dim3 thread_index() { return cudal1_host::current().thread; }
};

inline thread_block this_thread_block() { return {}; }

template <unsigned Size, class Parent = thread_block>
class thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile is a power of two up to a warp");

 public:
  static unsigned thread_rank() { return cudal1_host::current().lane % Size; }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
  static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
  static void sync() { __syncwarp(mask()); }
  static int any(int predicate) { return __any_sync(mask(), predicate); }
  static int all(int predicate) { return __all_sync(mask(), predicate); }
  static unsigned ballot(int predicate) { return (__ballot_sync(mask(), predicate) & mask()) >> first_lane(); }
  template <class T>
  static T shfl(T value, int source) {
    return __shfl_sync(mask(), value, source, Size);
  }
  template <class T>
  static T shfl_up(T value, unsigned delta) {
    return __shfl_up_sync(mask(), value, delta, Size);
  }
  template <class T>
  static T shfl_down(T value, unsigned delta) {
    return __shfl_down_sync(mask(), value, delta, Size);
  }
  template <class T>
  static T shfl_xor(T value, int lane_mask) {
    return __shfl_xor_sync(mask(), value, lane_mask, Size);
  }

 private:
  static int first_lane() { return cudal1_host::first_lane_of_segment(Size); }
  static unsigned mask() { return (0xffffffffu >> (32 - Size)) << first_lane(); }
};

template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

template <class Group>
void sync(const Group& group) {
  group.sync();
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a > b ? a : b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return a < b ? a : b; }
};

template <class Group, class T, class Combine>
T reduce(const Group& group, T value, Combine combine) {
  for (unsigned distance = group.size() / 2; distance > 0; distance /= 2)
    value = combine(value, group.shfl_xor(value, distance));
  return value;
}

}  // namespace cooperative_groups
