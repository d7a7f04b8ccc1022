#include "judge/ulp_moves.hpp"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "graph/generator.hpp"
#include "judge/device_walks.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t directions_a_number = 4;  // of 16 bits each
constexpr std::int64_t chunk_elements = 32768;   // a multiple of them

struct UlpSizes {
  double relative, absolute;
};

UlpSizes sizes_of_ulps(const at::Tensor& tensor, double ulps) {
  const bool is_double = tensor.scalar_type() == at::kDouble;
  return {ulps * ulp_of(tensor.scalar_type()), ulps * (is_double ? 0x1.0p-1074 : 0x1.0p-149)};
}

constexpr double least_move = 0.4, most_move = 1.2;

//! A third each, to one in 65536; or one bit for the sign and 15 for the size.
double direction_in(std::uint64_t bits, Directions directions) {
  if (directions == Directions::thirds)
    return static_cast<double>(static_cast<std::int64_t>((bits & 0xffff) * 3 >> 16) - 1);
  const double size = least_move + (most_move - least_move) * 0x1.0p-15 * static_cast<double>(bits & 0x7fff);
  return (bits & 0x8000) != 0 ? size : -size;
}

//! Calls `use(index, direction)` for all elements, on all cores. PyTorch draws numbers on one.
template <class Use>
void draw_directions(std::int64_t count, std::uint64_t seed, Directions directions, const Use& use) {
  const std::int64_t chunks = (count + chunk_elements - 1) / chunk_elements;
  at::parallel_for(0, chunks, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t chunk = first; chunk < last; ++chunk) {
      Random random(Random(seed + static_cast<std::uint64_t>(chunk)).next());
      const std::int64_t end = std::min(count, (chunk + 1) * chunk_elements);
      for (std::int64_t i = chunk * chunk_elements; i < end; i += directions_a_number) {
        std::uint64_t bits = random.next();
        for (std::int64_t k = i; k < std::min(end, i + directions_a_number); ++k, bits >>= 16)
          use(k, direction_in(bits, directions));
      }
    }
  });
}

at::Tensor draw_by_operators(at::Tensor& drawn, std::uint64_t seed, Directions directions) {
  const at::Generator generator = make_generator(drawn.device(), seed);
  if (directions == Directions::thirds) return drawn.random_(0, 3, generator).sub_(1.0);
  drawn.uniform_(-1.0, 1.0, generator);
  return drawn.mul_(most_move - least_move) + drawn.sign() * least_move;
}

template <class Type>
at::Tensor moved_on_cpu(const at::Tensor& tensor, UlpSizes ulps, std::uint64_t seed, Directions directions) {
  const at::Tensor dense = tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous();
  at::Tensor moved = at::empty_strided(dense.sizes(), dense.strides(), dense.options().dtype(at::kDouble));
  const auto* from = dense.const_data_ptr<Type>();
  auto* to = moved.mutable_data_ptr<double>();
  draw_directions(dense.numel(), seed, directions, [=](std::int64_t i, double direction) {
    const auto value = static_cast<double>(from[i]);
    if (directions == Directions::outward) direction = std::copysign(1.0, value);
    to[i] = std::isfinite(value) ? value + direction * (std::abs(value) * ulps.relative + ulps.absolute) : value;
  });
  return moved;
}

at::Tensor moved_by_ulps_by_operators(const at::Tensor& tensor, UlpSizes ulps, std::uint64_t seed,
                                      Directions directions) {
  const at::Tensor wide = tensor.to(at::kDouble);
  at::Tensor moves = random_directions(wide, seed, directions);
  moves.mul_(wide.abs().mul_(ulps.relative).add_(ulps.absolute));
  return wide + moves.nan_to_num_(0.0, 0.0, 0.0);
}

at::Tensor moved_by_operators(const at::Tensor& tensor, const Moves& moves, std::uint64_t seed, Directions directions) {
  at::Tensor steps = random_directions(tensor, seed, directions);  // in place: results may fill half a device
  if (moves.sizes.defined()) steps.mul_(moves.sizes.abs());
  steps.mul_(moves.ulps).nan_to_num_(0.0, 0.0, 0.0);
  if (moves.most.defined()) {
    const at::Tensor most = moves.most.abs().nan_to_num_(0.0, 0.0, 0.0);
    steps.clamp_(-most, most);
  }
  return tensor + steps;
}

//! Where a zero goes outward is the caller's to say.
walk_kernels::Direction in_walk(Directions directions, walk_kernels::Direction outward) {
  if (directions == Directions::outward) return outward;
  return directions == Directions::thirds ? walk_kernels::Direction::thirds : walk_kernels::Direction::never_zero;
}

}  // namespace

at::Tensor finite_or_zero(const at::Tensor& tensor) { return tensor.nan_to_num(0.0, 0.0, 0.0); }

at::Tensor random_directions(const at::Tensor& like, std::uint64_t seed, Directions directions) {
  if (directions == Directions::outward) return like.sign();
  at::Tensor drawn = at::empty(like.sizes(), like.options());
  if (!like.is_cpu() || like.scalar_type() != at::kDouble) return draw_by_operators(drawn, seed, directions);
  auto* to = drawn.mutable_data_ptr<double>();
  draw_directions(drawn.numel(), seed, directions, [=](std::int64_t i, double direction) { to[i] = direction; });
  return drawn;
}

at::Tensor moved_by_ulps(const at::Tensor& tensor, double ulps, std::uint64_t seed, Directions directions) {
  if (!tensor.is_floating_point()) return tensor;
  const UlpSizes sizes = sizes_of_ulps(tensor, ulps);
  if (const auto walks = device_walks_over({tensor})) {
    const auto direction = in_walk(directions, walk_kernels::Direction::outward_from_zero);
    return walks->moved(tensor, {sizes.relative, sizes.absolute, direction}, seed);
  }
  if (!tensor.is_cpu()) return moved_by_ulps_by_operators(tensor, sizes, seed, directions);
  switch (tensor.scalar_type()) {
    case at::kDouble:
      return moved_on_cpu<double>(tensor, sizes, seed, directions);
    case at::kFloat:
      return moved_on_cpu<float>(tensor, sizes, seed, directions);
    case at::kHalf:
      return moved_on_cpu<at::Half>(tensor, sizes, seed, directions);
    case at::kBFloat16:
      return moved_on_cpu<at::BFloat16>(tensor, sizes, seed, directions);
    default:
      return moved_by_ulps_by_operators(tensor, sizes, seed, directions);
  }
}

at::Tensor moved_by(const at::Tensor& tensor, const Moves& moves, std::uint64_t seed, Directions directions) {
  const auto walks = device_walks_over({tensor});
  if (!walks || tensor.scalar_type() != at::kDouble) return moved_by_operators(tensor, moves, seed, directions);
  const auto direction = in_walk(directions, walk_kernels::Direction::outward);
  // As far for all of them: nothing relative, and of infinity that is no number, so that it stays.
  if (!moves.sizes.defined()) return walks->moved(tensor, {0.0, moves.ulps, direction, {}, moves.most}, seed);
  return walks->moved(tensor, {moves.ulps, 0.0, direction, moves.sizes, moves.most}, seed);
}

}  // namespace cudal1
