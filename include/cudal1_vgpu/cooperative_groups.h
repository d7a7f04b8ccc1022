// The groups inside a block: the block itself, tiles of a warp, and the active threads of a warp.
#pragma once

#include "cudal1_vgpu/integer.h"
#include "cudal1_vgpu/warp.h"

namespace cooperative_groups {

class thread_block {
 public:
  static CUDAL1_MEMBER void sync() { __syncthreads(); }
  static CUDAL1_MEMBER unsigned int thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  static CUDAL1_MEMBER unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
  static CUDAL1_MEMBER unsigned int num_threads() { return size(); }
  static CUDAL1_MEMBER dim3 group_index() { return blockIdx; }
  static CUDAL1_MEMBER dim3 thread_index() { return threadIdx; }
  static CUDAL1_MEMBER dim3 group_dim() { return blockDim; }
  static CUDAL1_MEMBER dim3 dim_threads() { return blockDim; }
};
CUDAL1_DEVICE thread_block this_thread_block() { return {}; }

//! Threads of one warp, given by their lanes.
class coalesced_group {
 public:
  CUDAL1_MEMBER explicit coalesced_group(unsigned int lanes) : lanes_(lanes) {}
  CUDAL1_MEMBER void sync() const { __syncwarp(lanes_); }
  CUDAL1_MEMBER unsigned int size() const { return __popc(lanes_); }
  CUDAL1_MEMBER unsigned int num_threads() const { return size(); }
  CUDAL1_MEMBER unsigned int thread_rank() const { return __popc(lanes_ & ((1u << lane()) - 1u)); }
  CUDAL1_MEMBER int any(int predicate) const { return __any_sync(lanes_, predicate); }
  CUDAL1_MEMBER int all(int predicate) const { return __all_sync(lanes_, predicate); }
  CUDAL1_MEMBER unsigned int ballot(int predicate) const { return ranks_of(__ballot_sync(lanes_, predicate)); }
  template <class T>
  CUDAL1_MEMBER T shfl(T value, unsigned int rank) const {
    return __shfl_sync(lanes_, value, lane_of(rank));
  }
  template <class T>
  CUDAL1_MEMBER T shfl_down(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank() + delta;
    return __shfl_sync(lanes_, value, rank < size() ? lane_of(rank) : lane());
  }
  template <class T>
  CUDAL1_MEMBER T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return __shfl_sync(lanes_, value, rank >= delta ? lane_of(rank - delta) : lane());
  }

 private:
  static CUDAL1_MEMBER unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }
  CUDAL1_MEMBER unsigned int lane_of(unsigned int rank) const {
    unsigned int rest = lanes_;
    for (; rank > 0; --rank) rest &= rest - 1u;
    return __ffs(rest) - 1;
  }
  CUDAL1_MEMBER unsigned int ranks_of(unsigned int lanes) const {
    unsigned int ranks = 0, rank = 0;
    for (unsigned int rest = lanes_; rest != 0; rest &= rest - 1u, ++rank)
      if (lanes & rest & (0u - rest)) ranks |= 1u << rank;
    return ranks;
  }
  unsigned int lanes_;
};
CUDAL1_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

//! What the threads of a tile do among themselves, whatever the tile is a part of.
template <unsigned int Size>
class tile_of_a_warp {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile is a power of two up to a warp");

 public:
  static CUDAL1_MEMBER unsigned int thread_rank() { return thread_block::thread_rank() % Size; }
  static CUDAL1_MEMBER constexpr unsigned int size() { return Size; }
  static CUDAL1_MEMBER constexpr unsigned int num_threads() { return Size; }
  static CUDAL1_MEMBER void sync() { __syncwarp(mask()); }
  static CUDAL1_MEMBER int any(int predicate) { return __any_sync(mask(), predicate); }
  static CUDAL1_MEMBER int all(int predicate) { return __all_sync(mask(), predicate); }
  static CUDAL1_MEMBER unsigned int ballot(int predicate) {
    return (__ballot_sync(mask(), predicate) & mask()) >> first_lane();
  }
  template <class T>
  static CUDAL1_MEMBER T shfl(T value, int source) {
    return __shfl_sync(mask(), value, source, Size);
  }
  template <class T>
  static CUDAL1_MEMBER T shfl_up(T value, unsigned int delta) {
    return __shfl_up_sync(mask(), value, delta, Size);
  }
  template <class T>
  static CUDAL1_MEMBER T shfl_down(T value, unsigned int delta) {
    return __shfl_down_sync(mask(), value, delta, Size);
  }
  template <class T>
  static CUDAL1_MEMBER T shfl_xor(T value, unsigned int lanes) {
    return __shfl_xor_sync(mask(), value, lanes, Size);
  }
  template <class T>
  static CUDAL1_MEMBER unsigned int match_any(T value) {
    return (__match_any_sync(mask(), value) & mask()) >> first_lane();
  }

 private:
  static CUDAL1_MEMBER unsigned int first_lane() { return __nvvm_read_ptx_sreg_laneid() & ~(Size - 1u); }
  static CUDAL1_MEMBER unsigned int mask() { return (0xffffffffu >> (32 - Size)) << first_lane(); }
};

//! A tile that knows of which group it is a part.
template <unsigned int Size, class Parent = void>
class thread_block_tile : public tile_of_a_warp<Size> {
 public:
  static CUDAL1_MEMBER unsigned int meta_group_rank() { return Parent::thread_rank() / Size; }
  static CUDAL1_MEMBER unsigned int meta_group_size() { return (Parent::size() + Size - 1) / Size; }
};

//! A tile as functions take it, of whatever group it is a part.
template <unsigned int Size>
class thread_block_tile<Size, void> : public tile_of_a_warp<Size> {
 public:
  template <class Parent>
  CUDAL1_MEMBER thread_block_tile(const thread_block_tile<Size, Parent>& tile)
      : meta_group_rank_(tile.meta_group_rank()), meta_group_size_(tile.meta_group_size()) {}
  CUDAL1_MEMBER unsigned int meta_group_rank() const { return meta_group_rank_; }
  CUDAL1_MEMBER unsigned int meta_group_size() const { return meta_group_size_; }

 private:
  unsigned int meta_group_rank_, meta_group_size_;
};

template <unsigned int Size, class Parent>
CUDAL1_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

template <class Group>
CUDAL1_DEVICE void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
