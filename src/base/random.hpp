#pragma once

#include <cstdint>

namespace cudal1 {

//! Eight bytes from the operating system: a seed that no candidate can know.
std::uint64_t secret_seed();

//! SplitMix64: small, seekable by seed, good enough for choices and addresses. Tensors are drawn by ATen.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound);  //!< uniform in [0, bound)
  double uniform();                          //!< [0, 1)
  Random fork() { return Random(next()); }

 private:
  std::uint64_t state_;
};

}  // namespace cudal1
