#include "policy/prompt/gpu_text.hpp"

#include <fmt/format.h>

#include "policy/prompt/text_blocks.hpp"

namespace cudal1 {
namespace {

//! Two operations for a multiply-add; rates are those of a clock and multiprocessor.
double tera_operations(const vgpu::GpuProfile& gpu, double multiply_adds) {
  return 2 * multiply_adds * static_cast<double>(gpu.chip.multiprocessors) * gpu.clocks_per_second() * 1e-12;
}

}  // namespace

std::string gpu_text(const vgpu::GpuProfile& gpu) {
  constexpr double kib = 1024, mib = kib * kib;
  std::string text = fmt::format("{}, compute capability {}\n", on_one_line(gpu.title), gpu.compute_capability);
  text += fmt::format(
      "- {} multiprocessors at {:.2f} GHz, each with {} threads, {} registers and {:.0f} KiB of shared memory (a "
      "block: "
      "{} threads, {:.0f} KiB)\n",
      gpu.chip.multiprocessors, gpu.chip.clock_ghz, gpu.limits.threads, gpu.limits.registers,
      static_cast<double>(gpu.limits.shared_bytes) / kib, gpu.limits.threads_per_block,
      static_cast<double>(gpu.limits.shared_bytes_per_block) / kib);
  text += fmt::format("- memory: {:.2f} TB/s, of which a copy reaches {:.2f}; L2 cache {:.0f} MiB\n",
                      gpu.memory.dram_bytes_per_second * 1e-12, gpu.dram_achievable_bytes_per_second() * 1e-12,
                      static_cast<double>(gpu.memory.l2_bytes) / mib);
  text += fmt::format(
      "- arithmetic at that clock: fp32 {:.0f} TFLOP/s; tensor cores TF32 {:.0f}, fp16 {:.0f}, bf16 {:.0f}\n",
      tera_operations(gpu, gpu.pipes.single), tera_operations(gpu, gpu.tensor.tf32),
      tera_operations(gpu, gpu.tensor.f16), tera_operations(gpu, gpu.tensor.bf16));
  text += fmt::format(
      "- a kernel costs {:.1f} us to launch, {:.1f} us inside a CUDA Graph; a library call {:.1f} us more\n",
      gpu.costs.launch_us, gpu.costs.graph_launch_us, gpu.costs.library_call_us);
  return text;
}

}  // namespace cudal1
