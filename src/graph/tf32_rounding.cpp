#include "graph/tf32_rounding.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "graph/operator_name.hpp"

namespace cudal1 {
namespace {

constexpr int dropped_bits = 13;  // of fp32's 23 bits of mantissa TF32 keeps ten

float round_to_tf32(float value) {
  if (!std::isfinite(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t tie_to_even = (bits >> dropped_bits) & 1u;
  const std::uint32_t rounded = bits + (1u << (dropped_bits - 1)) - 1u + tie_to_even;
  return std::bit_cast<float>(rounded & ~((1u << dropped_bits) - 1u));
}

bool is_convolution(std::string_view name) {
  constexpr std::array<std::string_view, 4> prefixes{"conv", "_conv", "cudnn_conv", "mkldnn_conv"};
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_matrix_product(std::string_view name) {
  constexpr std::array<std::string_view, 7> names{"mm", "addmm", "bmm", "linear", "matmul", "baddbmm", "einsum"};
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

at::Tensor rounded_to_tf32(const at::Tensor& tensor) {
  if (!tensor.is_cpu() || tensor.scalar_type() != at::kFloat) return tensor;
  at::Tensor copy = tensor.clone();  // dense in some order of its dimensions, so memory can be walked plainly
  float* elements = copy.mutable_data_ptr<float>();
  at::parallel_for(0, copy.numel(), 32768, [&](std::int64_t begin, std::int64_t end) {
    std::transform(elements + begin, elements + end, elements + begin, round_to_tf32);
  });
  return copy;
}

std::vector<ValueId> tf32_operands(const Node& node, const AtenCall& call, PrecisionPolicy precision) {
  const std::string_view name = base_name(node.op);
  std::vector<std::string_view> arguments;
  if (is_convolution(name) && precision != PrecisionPolicy::strict) arguments = {"input", "self", "weight"};
  if (is_matrix_product(name) && precision == PrecisionPolicy::tf32) {
    arguments = {"mat1", "mat2", "batch1", "batch2", "input", "weight", "other", "tensors"};
    if (!name.starts_with("add") && !name.starts_with("badd")) arguments.push_back("self");
  }
  std::vector<ValueId> operands;
  for (const std::string_view argument : arguments)
    for (const ValueId id : call.values_of(argument)) operands.push_back(id);
  return operands;
}

}  // namespace cudal1
