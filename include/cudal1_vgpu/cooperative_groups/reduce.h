// Reductions of a tile by a butterfly of shuffles, and of the active threads of a warp one by one.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define CUDAL1_OPERATION(name, expression)                                                          \
  template <class T>                                                                                \
  struct name {                                                                                     \
    CUDAL1_MEMBER T operator()(const T& a, const T& b) const { return static_cast<T>(expression); } \
  };
CUDAL1_OPERATION(plus, a + b)
CUDAL1_OPERATION(less, b < a ? b : a)
CUDAL1_OPERATION(greater, a < b ? b : a)
CUDAL1_OPERATION(bit_and, a& b)
CUDAL1_OPERATION(bit_or, a | b)
CUDAL1_OPERATION(bit_xor, a ^ b)
#undef CUDAL1_OPERATION

template <unsigned int Size, class Parent, class T, class Operation>
CUDAL1_DEVICE T reduce(const thread_block_tile<Size, Parent>& tile, T value, Operation operation) {
  for (unsigned int lanes = Size / 2; lanes > 0; lanes /= 2) value = operation(value, tile.shfl_xor(value, lanes));
  return value;
}

template <class T, class Operation>
CUDAL1_DEVICE T reduce(const coalesced_group& group, T value, Operation operation) {
  T result = group.shfl(value, 0);
  for (unsigned int rank = 1; rank < group.size(); ++rank) result = operation(result, group.shfl(value, rank));
  return result;
}

}  // namespace cooperative_groups
