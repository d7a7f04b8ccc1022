// What kernels should compute, as obvious loops on the host.
#pragma once

#include "buffers.hpp"

namespace cudal1::conformance {

//! A case's values and buffers; a reference overwrites the buffers that it computes.
struct Task {
  const Case& given;
  Memory& memory;

  std::int64_t value(const std::string& name) const { return given.values.at(name); }
  template <class T = float>
  std::span<T> buffer(const std::string& name) const {
    return view<T>(memory.at(name));
  }
  //! Any floating type as doubles; `store` writes it back, rounded once.
  std::vector<double> reals(const std::string& name) const;
  void store(const std::string& name, const std::vector<double>& values) const;
};

using Reference = void (*)(const Task& task);
using References = std::map<std::string, Reference>;

// One table per kind of computation; a name stands in one of them.
const References& linear_algebra_references();
const References& reduction_references();
const References& row_references();
const References& elementwise_references();
const References& grid_references();
const References& integer_references();
const References& module_references();
const References& image_references();

//! Throws Error for names that no table has.
Reference find_reference(const std::string& name);

}  // namespace cudal1::conformance
