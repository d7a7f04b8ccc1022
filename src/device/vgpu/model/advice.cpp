#include "device/vgpu/model/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudal1::vgpu {
namespace {

constexpr std::uint64_t small_stack_bytes = 64;  // functions like sinf have a rare path that needs some

bool wastes_sectors(const KernelFacts& facts) {
  return facts.least_sectors_per_request > 0 && facts.sectors_per_request > 1.5 * facts.least_sectors_per_request;
}

std::string about_sectors(const KernelFacts& facts) {
  return fmt::format(
      "a request touches {:.1f} sectors where {:.1f} would do: let neighbouring threads use neighbouring "
      "addresses, if need be through shared memory",
      facts.sectors_per_request, facts.least_sectors_per_request);
}

std::string about_dram(const KernelReport& row) {
  if (row.facts && wastes_sectors(*row.facts)) return about_sectors(*row.facts);
  if (row.dram_share > 0.7)
    return fmt::format(
        "at {:.0f}% of the memory's peak: only moving fewer bytes helps (fuse with its neighbours, smaller types)",
        100 * row.dram_share);
  return "moves bytes and little else: fuse with its neighbours, load 16 bytes a thread";
}

std::string about_l2(const KernelFacts& facts) {
  if (wastes_sectors(facts)) return about_sectors(facts);
  return fmt::format(
      "every byte is read {:.1f} times from L2: keep tiles in shared memory or registers, and larger ones",
      facts.reads_of_a_byte);
}

std::string about_occupancy(const KernelResidency& residency) {
  if (residency.occupancy_limit == "registers")
    return fmt::format("{} registers a thread leave room for few warps: smaller tiles a thread, or __launch_bounds__",
                       residency.registers);
  if (residency.occupancy_limit == "shared memory")
    return fmt::format("{:.1f} kB of shared memory leave room for few blocks: smaller tiles, or larger blocks on them",
                       static_cast<double>(residency.shared_bytes) / 1e3);
  if (residency.occupancy_limit == "blocks") return "blocks are small: 128 to 512 threads fill a multiprocessor";
  return fmt::format("{} blocks do not fill the multiprocessors: less work a block", residency.blocks);
}

std::string about_latency(const KernelFacts& facts, const KernelResidency& residency) {
  const bool half_empty = residency.occupancy < 0.5;
  if (facts.loads_in_flight < (half_empty ? 2 : 4))
    return fmt::format(
        "a warp has {:.1f} loads on their way at a time: let a thread load several values (or 16 bytes) before it uses "
        "the first",
        facts.loads_in_flight);
  if (half_empty) return about_occupancy(residency);
  return "warps wait for one another and for memory: fewer barriers, shorter chains of dependent instructions";
}

std::string about_local(const KernelResidency& residency) {
  return fmt::format(
      "; {} bytes of local memory a thread go through the caches: index arrays by constants (unroll), use fewer "
      "registers",
      residency.local_bytes);
}

std::string about_pipe(const std::string& bound) {
  if (bound == "fp32") return "computes: fewer operations, or tensor cores (three TF32 products have fp32 accuracy)";
  if (bound == "integer") return "index arithmetic: take it out of inner loops, use 32-bit offsets and vector loads";
  if (bound == "half") return "computes in half precision: packed instructions (half2), or tensor cores";
  if (bound == "fp64")
    return "computes in fp64, which is slow: is a literal without f or a double function in the way?";
  if (bound == "special functions")
    return "exponentials, roots and divisions: compute each once, use __expf and __fdividef where accuracy allows";
  if (bound == "conversions")
    return "converts between types: load packed and convert pairs, or compute in the stored type";
  if (bound == "load/store") return "many narrow accesses: load 8 or 16 bytes a thread, keep values in registers";
  if (bound == "tensor cores") return "the tensor cores are busy: a smaller type, if accuracy allows";
  if (bound == "instruction issue") return "many instructions: vector loads, unrolled loops, less index arithmetic";
  if (bound == "L1 bandwidth") return "reads the same values again and again: keep them in registers or shared memory";
  if (bound == "shared memory")
    return "shared memory is busy: let each thread compute several results from what it reads";
  if (bound == "constant memory")
    return "lanes read different constants, which are served one by one: put the table into shared or global memory";
  if (bound == "block starts") return "blocks end as soon as they have started: fewer of them, with more work a block";
  if (bound == "atomics") return "many atomics: add up within the warp and the block first";
  return "";
}

std::string about_kernel(const KernelReport& row) {
  const KernelFacts& facts = *row.facts;
  if (row.bound.starts_with("too few blocks"))
    return "most of the GPU is idle: split the work over more blocks (a second dimension, parts that are added up "
           "later)";
  if (row.bound == "shared memory conflicts")
    return fmt::format("an access to shared memory takes {:.1f} passes: pad rows by one element, or swizzle",
                       facts.passes_per_shared_request);
  if (row.bound == "L2 bandwidth") return about_l2(facts);
  if (row.bound == "L1 bandwidth" && wastes_sectors(facts)) return about_sectors(facts);
  if (row.bound.starts_with("latency")) return about_latency(facts, *row.residency);
  return about_pipe(row.bound);
}

std::string about_op(const KernelReport& row) {
  if (row.bound == "DRAM bandwidth")
    return "a library step that moves bytes: fuse it with its neighbours in one kernel";
  return "a library step that computes: its neighbours can be fused into one kernel of your own, at the price of its "
         "tuning";
}

}  // namespace

std::string advice_for(const KernelReport& row) {
  if (row.bound == "launch")
    return "the launch takes longer than the work: fuse it with its neighbours, or use `graph`";
  if (row.is_op) return about_op(row);
  if (row.bound == "DRAM bandwidth") return about_dram(row);
  if (!row.facts || !row.residency) return "";
  std::string advice = about_kernel(row);
  if (row.facts->lanes_per_instruction > 0 && row.facts->lanes_per_instruction < 20)
    advice = fmt::format("{:.0f} of 32 lanes work on average: let a warp's threads go the same way; {}",
                         row.facts->lanes_per_instruction, advice);
  return row.residency->local_bytes > small_stack_bytes ? advice + about_local(*row.residency) : advice;
}

}  // namespace cudal1::vgpu
