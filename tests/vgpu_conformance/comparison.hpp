// Are two results the same, within a bound?
#pragma once

#include <optional>

#include "buffers.hpp"

namespace cudal1::conformance {

struct Difference {
  double largest = 0.0;  //!< in the bound's unit; exactly: elements that differ
  std::optional<std::size_t> first_beyond;
  std::string message;  //!< of the first element beyond the bound
  bool ok() const { return !first_beyond; }
};

//! NaN equals NaN except where the bound is exact: there all bits count.
Difference compare(const BufferSpec& buffer, const Bound& bound, const Bytes& result, const Bytes& expected);

}  // namespace cudal1::conformance
