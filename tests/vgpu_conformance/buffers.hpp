// What kernels work on, as bytes on the host.
#pragma once

#include <map>
#include <span>

#include "kernel_file.hpp"

namespace cudal1::conformance {

// Numbers of 16 bits, to and from float; rounded to nearest, ties to even.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(double value);
  operator float() const;
};
struct Bfloat {
  std::uint16_t bits = 0;
  Bfloat() = default;
  explicit Bfloat(double value);
  operator float() const;
};

using Bytes = std::vector<std::byte>;

//! The same bytes for the same specification on every machine.
Bytes initial_bytes(const BufferSpec& buffer);

//! A buffer's bytes as numbers of any type; ours come from new, and are aligned for all of them.
template <class T>
std::span<T> view(Bytes& bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}
template <class T>
std::span<const T> view(const Bytes& bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

using Memory = std::map<std::string, Bytes>;  //!< by buffer's name

Memory initial_memory(const Case& given);

//! An element as a double; whole numbers of 64 bits lose their last digits.
double element(const Bytes& bytes, Dtype dtype, std::size_t index);

}  // namespace cudal1::conformance
