// Prefix sums over a tile.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

template <unsigned int Size, class Parent, class T, class Operation>
CUDAL1_DEVICE T inclusive_scan(const thread_block_tile<Size, Parent>& tile, T value, Operation operation) {
  for (unsigned int delta = 1; delta < Size; delta *= 2) {
    const T below = tile.shfl_up(value, delta);
    if (tile.thread_rank() >= delta) value = operation(below, value);
  }
  return value;
}
template <unsigned int Size, class Parent, class T>
CUDAL1_DEVICE T inclusive_scan(const thread_block_tile<Size, Parent>& tile, T value) {
  return inclusive_scan(tile, value, plus<T>());
}

//! The first thread gets T(): the neutral element of a sum.
template <unsigned int Size, class Parent, class T, class Operation>
CUDAL1_DEVICE T exclusive_scan(const thread_block_tile<Size, Parent>& tile, T value, Operation operation) {
  const T below = tile.shfl_up(inclusive_scan(tile, value, operation), 1);
  return tile.thread_rank() == 0 ? T() : below;
}
template <unsigned int Size, class Parent, class T>
CUDAL1_DEVICE T exclusive_scan(const thread_block_tile<Size, Parent>& tile, T value) {
  return exclusive_scan(tile, value, plus<T>());
}

}  // namespace cooperative_groups
