// Random moves by ulps: what the match rule does to inputs and results to see how far an honest program may be off.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cudal1 {

enum class Directions {
  thirds,      //!< -1, 0 or 1
  never_zero,  //!< 0.4 to 1.2 up or down, as much on average
  outward,     //!< 1 away from zero: errors of one sign, which nothing cancels in a chain of products
};

//! Of one, as honest programs compute: half types in fp32.
constexpr double ulp_of(at::ScalarType type) { return type == at::kDouble ? 0x1.0p-52 : 0x1.0p-23; }

//! For every element, in the type of `like`. On the CPU they do not depend on the number of threads.
at::Tensor random_directions(const at::Tensor& like, std::uint64_t seed, Directions directions = Directions::thirds);

//! Infinities do not move, and must not make a NaN of what they meet: 0 times one is none.
at::Tensor finite_or_zero(const at::Tensor& tensor);

//! Every floating element times 1 + r ulps 2^-23 with r of -1, 0, 1 (2^-52 for f64), and denormals by whole ulps, in
//! fp64; `ulps` below zero turn all directions round. Half types too move by ulps of fp32, since honest programs
//! compute in fp32 whatever they store. Other tensors are returned as they are.
at::Tensor moved_by_ulps(const at::Tensor& tensor, double ulps, std::uint64_t seed,
                         Directions directions = Directions::thirds);

//! How far elements move, times their directions.
struct Moves {
  double ulps = 0.0;   //!< of one
  at::Tensor sizes{};  //!< times |sizes|, broadcastable to what moves; undefined: times one
  at::Tensor most{};   //!< at most |most|, of the shape of what moves; undefined: as far as it goes
};

//! Every element of a floating tensor moved so far, in its type; or not at all where that is not finite. The result
//! has memory of its own: others may read what moved.
at::Tensor moved_by(const at::Tensor& tensor, const Moves& moves, std::uint64_t seed,
                    Directions directions = Directions::thirds);

}  // namespace cudal1
