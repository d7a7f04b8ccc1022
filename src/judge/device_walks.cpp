#include "judge/device_walks.hpp"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "judge/dimensions.hpp"
#include "judge/side_by_side.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t lanes_of_a_warp = 32;
// A warp takes so many at a time: enough to pay for its last steps, and of few rows there are many pieces.
constexpr std::int64_t elements_of_a_piece = 4096;
// Below so many elements of a column, a thread for each column has its last step for little.
constexpr std::int64_t short_column = 16;

WalkArgument read(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {reinterpret_cast<std::uint64_t>(tensor.const_data_ptr()), tensor.nbytes()};
}

//! Throws where it is of another type, which the kernel would misread.
WalkArgument read_fp64(const at::Tensor& tensor) {
  return {reinterpret_cast<std::uint64_t>(tensor.const_data_ptr<double>()), tensor.nbytes()};
}

WalkArgument written(const at::Tensor& tensor) {
  return {reinterpret_cast<std::uint64_t>(tensor.mutable_data_ptr()), tensor.nbytes(), true};
}

WalkArgument number(double value) { return {std::bit_cast<std::uint64_t>(value)}; }
WalkArgument number(std::uint64_t value) { return {value}; }
WalkArgument number(std::int64_t value) { return {static_cast<std::uint64_t>(value)}; }

//! As the kernels write the type; null for others.
const char* name_of(at::ScalarType type) {
  if (type == at::kFloat) return "float";
  if (type == at::kDouble) return "double";
  if (type == at::kHalf) return "Half";
  return type == at::kBFloat16 ? "Bfloat" : nullptr;
}

std::string kernel_for(const char* kernel, const at::Tensor& values) {
  return fmt::format("{}<{}>", kernel, name_of(values.scalar_type()));
}

std::int64_t divided_up(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }

//! Sums of all blocks, in their order: one copy, which waits for the device.
ErrorSums total_of(const at::Tensor& sums_of_blocks) {
  const at::Tensor brought = sums_of_blocks.to(at::kCPU);
  const auto* part = brought.const_data_ptr<double>();
  ErrorSums total;
  for (std::int64_t i = 0; i < brought.numel(); i += walk_kernels::numbers_of_a_block)
    total += {part[i], part[i + 1], static_cast<std::int64_t>(part[i + 2]), static_cast<std::int64_t>(part[i + 3])};
  return total;
}

//! In fp64, with an element for each of the values', in their order in memory.
at::Tensor laid_out_as(const at::Tensor& values, const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const bool same_place = tensor.sizes() == values.sizes() && tensor.strides() == values.strides();
  if (same_place && tensor.scalar_type() == at::kDouble) return tensor;
  return at::empty_strided(values.sizes(), values.strides(), values.options().dtype(at::kDouble))
      .copy_(tensor.expand(values.sizes()));
}

//! Of a warp that read a row together; 0: threads have a column each.
std::int64_t lanes_for(const Extent& extent) {
  if (extent.inner >= lanes_of_a_warp) return lanes_of_a_warp;
  const auto inner = static_cast<std::uint64_t>(extent.inner);
  return extent.outer < short_column ? static_cast<std::int64_t>(std::bit_ceil(inner)) : 0;
}

}  // namespace

double finite_below(at::ScalarType type) {
  // What lies half way to the first number that is too large is rounded up, to even; and 16 bits are rounded from fp32,
  // to which a little less than that is already rounded up.
  if (type == at::kFloat) return 0x1.ffffffp127;
  if (type == at::kHalf) return 65520.0 - 0x1.0p-9;
  if (type == at::kBFloat16) return 0x1.ffp127 - 0x1.0p103;
  return std::numeric_limits<double>::infinity();
}

std::uint32_t DeviceWalks::blocks_for(std::int64_t threads) const {
  const std::int64_t blocks = divided_up(threads, walk_kernels::threads_of_a_block);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(blocks, 1, device_->most_blocks()));
}

ErrorSums DeviceWalks::sums_of(const std::string& kernel, std::int64_t count, const at::Tensor& like,
                               Arguments arguments) const {
  if (count == 0) return {};
  const std::uint32_t blocks = blocks_for(count);
  const at::Tensor sums =
      at::empty({blocks * std::int64_t{walk_kernels::numbers_of_a_block}}, like.options().dtype(at::kDouble));
  arguments.push_back(written(sums));
  device_->launch(kernel, blocks, arguments);
  return total_of(sums);
}

ErrorSums DeviceWalks::errors_of(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type) const {
  const auto tensors = side_by_side<2>({result, exact});
  return sums_of(kernel_for("errors", result), exact.numel(), exact,
                 {read(tensors[0]), read_fp64(tensors[1]), number(exact.numel()), number(finite_below(type))});
}

ErrorSums DeviceWalks::sizes_of(const at::Tensor& exact, at::ScalarType type) const {
  const auto tensors = side_by_side<1>({exact});
  return sums_of("sizes", exact.numel(), exact,
                 {read_fp64(tensors[0]), number(exact.numel()), number(finite_below(type))});
}

ErrorSums DeviceWalks::compare_with(const at::Tensor& exact, const at::Tensor& reference,
                                    const at::Tensor& candidate) const {
  const auto tensors = side_by_side<3>({exact, reference, candidate});
  return sums_of(kernel_for("comparison", candidate), exact.numel(), exact,
                 {read_fp64(tensors[0]), read(tensors[1]), read(tensors[2]), number(exact.numel()),
                  number(finite_below(reference.scalar_type()))});
}

bool DeviceWalks::all_within(const at::Tensor& a, const at::Tensor& b, double budget) const {
  const auto tensors = side_by_side<2>({a, b});
  return sums_of(kernel_for("within", a), a.numel(), a,
                 {read(tensors[0]), read(tensors[1]), number(a.numel()), number(budget)})
             .mismatches == 0;
}

at::Tensor DeviceWalks::largest_along(const std::string& kernel, const at::Tensor& exact, std::int64_t dimension,
                                      Arguments arguments) const {
  const Extent extent(exact.sizes(), dimension);
  const at::Tensor largest = at::zeros({extent.count}, exact.options());
  if (exact.numel() == 0) return largest;
  const std::int64_t columns = extent.count * extent.inner;
  const std::int64_t threads = std::int64_t{device_->most_blocks()} * walk_kernels::threads_of_a_block;
  const std::int64_t lanes = lanes_for(extent);
  const std::int64_t parts = lanes > 0 ? divided_up(extent.inner, elements_of_a_piece)
                                       : std::clamp<std::int64_t>(threads / columns, 1, extent.outer);
  const std::int64_t units = lanes > 0 ? extent.outer * extent.count * parts * lanes : columns * parts;
  for (const std::int64_t size : {extent.outer, extent.count, extent.inner, lanes, parts})
    arguments.push_back(number(size));
  arguments.push_back(written(largest));
  device_->launch(kernel, blocks_for(units), arguments);
  return largest;
}

at::Tensor DeviceWalks::largest_errors_along(const at::Tensor& result, const at::Tensor& exact, at::ScalarType type,
                                             std::int64_t dimension) const {
  const at::Tensor given = result.contiguous(), wanted = exact.contiguous();
  return largest_along(kernel_for("largest_errors", given), wanted, dimension,
                       {read(given), read_fp64(wanted), number(finite_below(type))});
}

at::Tensor DeviceWalks::largest_sizes_along(const at::Tensor& exact, at::ScalarType type,
                                            std::int64_t dimension) const {
  const at::Tensor wanted = exact.contiguous();
  return largest_along("largest_sizes", wanted, dimension, {read_fp64(wanted), number(finite_below(type))});
}

at::Tensor DeviceWalks::moved(const at::Tensor& values, const WalkMoves& moves, std::uint64_t seed) const {
  const at::Tensor dense = values.is_non_overlapping_and_dense() ? values : values.contiguous();
  const at::Tensor result = at::empty_strided(dense.sizes(), dense.strides(), dense.options().dtype(at::kDouble));
  if (dense.numel() == 0) return result;
  const at::Tensor sizes = moves.sizes.is_same(values) ? at::Tensor() : laid_out_as(dense, moves.sizes);
  const at::Tensor most = laid_out_as(dense, moves.most);
  const Arguments arguments = {read(dense),
                               read(sizes),
                               read(most),
                               written(result),
                               number(dense.numel()),
                               number(moves.relative),
                               number(moves.absolute),
                               number(seed),
                               number(static_cast<std::int64_t>(moves.direction))};
  device_->launch(kernel_for("moved", dense), blocks_for(dense.numel()), arguments);
  return result;
}

std::optional<DeviceWalks> device_walks_over(std::initializer_list<at::Tensor> tensors) {
  const at::Tensor& first = *tensors.begin();
  const bool alike = std::all_of(tensors.begin(), tensors.end(), [&](const at::Tensor& tensor) {
    return tensor.is_cuda() && tensor.device() == first.device() && name_of(tensor.scalar_type()) &&
           tensor.sizes() == first.sizes();
  });
  if (!alike) return std::nullopt;
  auto device = walk_device_of(first.device().index());
  return device ? std::optional<DeviceWalks>(std::move(device)) : std::nullopt;
}

}  // namespace cudal1
