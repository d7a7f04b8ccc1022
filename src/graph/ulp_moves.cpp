#include <ATen/ops/empty_strided.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/where.h>

#include <limits>

#include "base/random.hpp"
#include "graph/aten_call.hpp"
#include "graph/generator.hpp"
#include "graph/inputs.hpp"
#include "graph/torch_errors.hpp"

namespace cudal1 {
namespace {

//! The bits of a floating dtype, read as a signed integer of the same size.
struct BitLayout {
  at::ScalarType integer;
  std::int64_t sign_bit;   //!< as that signed integer: its smallest number
  std::int64_t magnitude;  //!< mask of everything but the sign
  std::int64_t infinity;   //!< bits of +inf; below it are the finite magnitudes
};

BitLayout layout_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {at::kShort, std::numeric_limits<std::int16_t>::min(), 0x7fff, 0x7c00};
    case DType::bf16:
      return {at::kShort, std::numeric_limits<std::int16_t>::min(), 0x7fff, 0x7f80};
    case DType::f64:
      return {at::kLong, std::numeric_limits<std::int64_t>::min(), 0x7fffffffffffffff, 0x7ff0000000000000};
    default:
      return {at::kInt, std::numeric_limits<std::int32_t>::min(), 0x7fffffff, 0x7f800000};
  }
}

//! Floats ordered as integers: -x and +x are mirrored around the one zero, neighbours differ by 1.
at::Tensor moved_bits(const at::Tensor& bits, const at::Tensor& steps, const BitLayout& layout) {
  const at::Tensor magnitude = bits.bitwise_and(layout.magnitude);
  const at::Tensor moved = at::where(bits.lt(0), magnitude.neg(), bits).add(steps);
  const at::Tensor moved_magnitude = moved.abs();
  const at::Tensor result = at::where(moved.lt(0), moved_magnitude.bitwise_or(layout.sign_bit), moved_magnitude);
  const at::Tensor stays = steps
                               .eq(0)  // -0 must not become +0 by not moving
                               .logical_or_(magnitude.ge(layout.infinity))
                               .logical_or_(moved_magnitude.ge(layout.infinity));
  return at::where(stays, bits, result);
}

at::Tensor moved(const at::Tensor& tensor, DType dtype, std::uint64_t seed) {
  const BitLayout layout = layout_of(dtype);
  const at::Tensor bits = tensor.view(layout.integer);
  const at::Tensor steps = at::randint(-1, 2, tensor.sizes(), make_generator(tensor.device(), seed),
                                       at::TensorOptions().device(tensor.device()).dtype(layout.integer));
  at::Tensor result = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options());
  result.view(layout.integer).copy_(moved_bits(bits, steps, layout));
  return result;
}

}  // namespace

TensorTable move_by_an_ulp(const Task& task, const TensorTable& table, std::uint64_t seed) {
  TensorTable result = table;
  Random random(seed);
  with_torch_errors("moving inputs and weights by an ulp", [&] {
    for (const auto* ids : {&task.graph.inputs, &task.graph.weights})
      for (const ValueId id : *ids) {
        const std::uint64_t leaf_seed = random.next();
        const DType dtype = task.graph.values[id].meta.dtype;
        if (is_floating(dtype) && table.at(id).defined()) result[id] = moved(table[id], dtype, leaf_seed);
      }
  });
  return result;
}

}  // namespace cudal1
