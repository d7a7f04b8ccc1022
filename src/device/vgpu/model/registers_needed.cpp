#include "device/vgpu/model/registers_needed.hpp"

#include <algorithm>

#include "device/vgpu/model/load_parallelism.hpp"
#include "device/vgpu/ptx/live_registers.hpp"

namespace cudal1::vgpu {
namespace {

constexpr std::uint32_t registers_of_a_multiprocessor = 65536, most_registers = 255;
constexpr std::uint32_t allocation_unit = 8;
constexpr double most_loads_together = 8;
constexpr std::uint32_t always_taken = 6;  // the stack pointer, and halves of addresses that outlive their PTX register

std::uint32_t product(const std::vector<std::uint32_t>& factors) {
  std::uint32_t result = 1;
  for (const std::uint32_t factor : factors) result *= std::max(factor, 1u);
  return result;
}

//! What launch bounds leave to a thread.
std::uint32_t most_allowed(const ptx::Function& function) {
  const auto limit = [&](const char* name) {
    const auto found = function.limits.find(name);
    return found == function.limits.end() ? 0u : product(found->second);
  };
  std::uint32_t most = most_registers;
  if (const std::uint32_t given = limit("maxnreg")) most = std::min(most, given);
  if (const std::uint32_t threads = limit("maxntid")) {
    const std::uint32_t blocks = std::max(limit("minnctapersm"), 1u);
    const std::uint32_t whole_warps = (threads + 31) / 32 * 32;
    most = std::min(most, registers_of_a_multiprocessor / (whole_warps * blocks) / allocation_unit * allocation_unit);
  }
  return most;
}

}  // namespace

std::uint32_t registers_needed(const ptx::Function& function) {
  const std::uint32_t words = most_live_words(function, FunctionFlow(function));
  const double loads = std::min(load_parallelism(function).global, most_loads_together);
  const auto held = static_cast<std::uint32_t>(loads - 1);
  return std::min(words + held + always_taken, std::max(most_allowed(function), 16u));
}

}  // namespace cudal1::vgpu
