#include "device/vgpu/model/kernel_traits.hpp"

#include <algorithm>
#include <array>

#include "device/vgpu/model/registers_needed.hpp"
#include "device/vgpu/model/shared_widths.hpp"
#include "device/vgpu/ptx/function_flow.hpp"

namespace cudal1::vgpu {
namespace {

TensorType tensor_type_of(const ptx::Function& entry) {
  // Slowest first.
  constexpr std::array<std::pair<const char*, TensorType>, 4> words{
      {{"f64", TensorType::f64}, {"tf32", TensorType::tf32}, {"bf16", TensorType::bf16}, {"f16", TensorType::f16}}};
  const auto uses = [&](const char* word) {
    return std::ranges::any_of(entry.instructions, [&](const ptx::Instruction& instruction) {
      return (instruction.opcode == "mma" || instruction.opcode == "wmma") && has_modifier(instruction, word);
    });
  };
  for (const auto& [word, type] : words)
    if (uses(word)) return type;
  return uses("s8") || uses("u8") ? TensorType::s8 : TensorType::f16;
}

}  // namespace

std::string to_string(TensorType type) {
  constexpr std::array<const char*, 5> names{"f16", "bf16", "tf32", "s8", "f64"};
  return names[static_cast<std::size_t>(type)];
}

KernelTraits traits_of(const ptx::Function& entry) {
  return {registers_needed(entry), load_parallelism(entry), shared_load_width(entry), tensor_type_of(entry)};
}

}  // namespace cudal1::vgpu
