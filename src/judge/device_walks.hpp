// What error_sums.hpp and ulp_moves.hpp ask of tensors on a GPU, each in one pass and without temporaries.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/error_sums.hpp"
#include "judge/walk_device.hpp"
#include "judge/walk_kernels.hpp"

namespace cudal1 {

//! Numbers smaller than this are finite in the type, rounded to it as PyTorch rounds fp64.
double finite_below(at::ScalarType type);

//! An element moves by direction · (relative · |size| + absolute), or not at all where that is not finite.
struct WalkMoves {
  double relative = 0.0, absolute = 0.0;
  walk_kernels::Direction direction = walk_kernels::Direction::thirds;
  at::Tensor sizes{};  //!< broadcastable to the values; undefined: these themselves
  at::Tensor most{};   //!< no farther than |most|, likewise; undefined: as far as it goes
};

//! Takes floating tensors that the device reaches, each call of one shape; exact ones are fp64.
class DeviceWalks {
 public:
  explicit DeviceWalks(std::shared_ptr<WalkDevice> device) : device_(std::move(device)) {}

  ErrorSums errors_of(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type) const;
  ErrorSums sizes_of(const at::Tensor& exact, at::ScalarType type) const;
  ErrorSums compare_with(const at::Tensor& exact, const at::Tensor& reference, const at::Tensor& candidate) const;
  bool all_within(const at::Tensor& a, const at::Tensor& b, double budget) const;
  at::Tensor largest_errors_along(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type,
                                  std::int64_t dimension) const;
  at::Tensor largest_sizes_along(const at::Tensor& exact, at::ScalarType type, std::int64_t dimension) const;

  //! In fp64, in memory of its own. Directions are a function of the seed and of an element's place in memory.
  at::Tensor moved(const at::Tensor& values, const WalkMoves& moves, std::uint64_t seed) const;

 private:
  using Arguments = std::vector<WalkArgument>;
  std::uint32_t blocks_for(std::int64_t threads) const;
  ErrorSums sums_of(const std::string& kernel, std::int64_t count, const at::Tensor& like, Arguments arguments) const;
  at::Tensor largest_along(const std::string& kernel, const at::Tensor& exact, std::int64_t dimension,
                           Arguments arguments) const;

  std::shared_ptr<WalkDevice> device_;
};

//! Nothing where these tensors are not on one GPU that walks (walk_device.hpp), of one shape, and in fp64, fp32, fp16
//! or bf16.
std::optional<DeviceWalks> device_walks_over(std::initializer_list<at::Tensor> tensors);

}  // namespace cudal1
