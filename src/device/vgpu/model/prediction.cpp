#include "device/vgpu/model/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/result.hpp"
#include "device/vgpu/model/warp_latency.hpp"

namespace cudal1::vgpu {
namespace {

constexpr double warp_lanes = 32, sector_bytes = 32;

double tensor_rate(const GpuProfile::Tensor& tensor, TensorType type) {
  const std::array<double, 5> rates{tensor.f16, tensor.bf16, tensor.tf32, tensor.s8, tensor.f64};
  return rates[static_cast<std::size_t>(type)];
}

class Predictor {
 public:
  Predictor(const GpuProfile& gpu, const KernelShape& shape, const KernelCounters& counters,
            const ModelParameters& model)
      : gpu_(gpu), shape_(shape), counters_(counters), model_(model), scale_(scale_of(shape, counters)) {
    made_.occupancy = occupancy_of(gpu, shape.threads_per_block(), shape.traits.registers, shape.shared_bytes);
    if (made_.occupancy.blocks == 0)
      throw Error(
          fmt::format("no multiprocessor of {} holds a block of {} threads with {} registers each and {} bytes "
                      "of shared memory",
                      gpu.name, shape.threads_per_block(), shape.traits.registers, shape.shared_bytes));
    spread_blocks();
    made_.traffic = memory_traffic(gpu, model, shape, counters, made_.occupancy);
  }

  KernelPrediction run() {
    add_pipes();
    add_memory();
    add_dispatch();
    add_latency();
    combine();
    return std::move(made_);
  }

 private:
  //! How uneven the blocks lie on the multiprocessors, and how full those are.
  void spread_blocks() {
    const double multiprocessors = static_cast<double>(gpu_.chip.multiprocessors);
    const double blocks = static_cast<double>(std::max<std::uint64_t>(shape_.blocks(), 1));
    const double busiest = std::ceil(blocks / multiprocessors);
    const double resident = static_cast<double>(made_.occupancy.blocks);
    made_.waves = busiest / resident;
    busiest_blocks_ = busiest;
    made_.active_share =
        std::min(busiest, resident) * shape_.warps_per_block() / static_cast<double>(gpu_.limits.warps);
    const double uneven = busiest * multiprocessors / blocks;
    imbalance_ = blocks <= multiprocessors ? uneven : 1 + (uneven - 1) * model_.tail_share;
  }

  //! Seconds that the busiest multiprocessor takes for this many clocks of the whole grid's work.
  double on_multiprocessors(double clocks) const {
    return clocks / static_cast<double>(gpu_.chip.multiprocessors) * imbalance_ / gpu_.clocks_per_second();
  }

  //! `seconds` at the data sheet's rate, `efficiency` the share of it that can be had.
  void add(const std::string& name, double seconds, double efficiency, bool has_peak = true) {
    if (seconds <= 0) return;
    made_.components.push_back({name, seconds / efficiency * 1e3, has_peak ? seconds * 1e3 : 0});
  }

  double instructions(Pipe pipe) const {
    return static_cast<double>(counters_.issued()[static_cast<std::size_t>(pipe)]) * scale_;
  }

  void add_pipe(const std::string& name, double warp_instructions, double lanes) {
    const double clocks = warp_instructions * warp_lanes / lanes;
    add(name, on_multiprocessors(clocks), model_.pipe_efficiency);
    if (clocks <= busiest_clocks_) return;
    busiest_clocks_ = clocks;
    made_.busiest_pipe = name;
  }

  //! Loads from shared memory that the assembler leaves out, since another one takes their words along.
  double merged_loads() const {
    const double share = 1 - 1 / shape_.traits.shared_load_width;
    return std::min(static_cast<double>(counters_.shared_requests) * scale_ * share, instructions(Pipe::memory));
  }

  //! Integer additions that the assembler writes as products, so that both pipes which can do them are as busy.
  double additions_as_products() const {
    const double plain = instructions(Pipe::integer) + instructions(Pipe::either);
    const double multiplied = instructions(Pipe::multiply), single = instructions(Pipe::single);
    const double rate = gpu_.pipes.single / gpu_.pipes.integer;  // of fp32 lanes to those of integers
    const double all_lanes = (rate * plain - single - multiplied) / (1 + rate), half = (plain - multiplied) / 2;
    return std::clamp(std::min(all_lanes, half), 0.0, instructions(Pipe::either));
  }

  void add_pipes() {
    const GpuProfile::Pipes& pipes = gpu_.pipes;
    const double multiplied = instructions(Pipe::multiply) + additions_as_products();
    const double integers = instructions(Pipe::integer) + instructions(Pipe::either) - additions_as_products();
    add_pipe("fp32", instructions(Pipe::single) + multiplied, pipes.single);
    add_pipe("integer", std::max(integers, multiplied), pipes.integer);
    add_pipe("half", instructions(Pipe::half), pipes.half);
    add_pipe("fp64", instructions(Pipe::twofold), pipes.twofold);
    add_pipe("special functions", instructions(Pipe::special), pipes.special);
    add_pipe("conversions", instructions(Pipe::conversion), pipes.conversion);
    add_pipe("load/store", instructions(Pipe::memory) - merged_loads(), pipes.memory);
    const double products = static_cast<double>(counters_.tensor_products) * scale_;
    add_pipe("tensor cores", products / warp_lanes,
             tensor_rate(gpu_.tensor, shape_.traits.tensor_type) * gpu_.tensor.mma_share);
    double issued = -merged_loads();
    for (const std::uint64_t count : counters_.issued()) issued += static_cast<double>(count) * scale_;
    add("instruction issue", on_multiprocessors(issued / pipes.schedulers), model_.issue_efficiency);
  }

  bool conflicts() const {
    return static_cast<double>(counters_.shared_passes) > 1.5 * static_cast<double>(counters_.shared_requests);
  }

  //! Of loads that the assembler makes wider some take fewer passes than one by one: those of which many lanes want
  //! the same words.
  double shared_passes() const {
    const double narrow = static_cast<double>(counters_.shared_passes);
    const double wide = std::min(static_cast<double>(counters_.shared_quad_passes) / 4, narrow);
    return narrow + (wide - narrow) * (1 - 1 / shape_.traits.shared_load_width) / (1 - 1 / 4.0);
  }

  void add_memory() {
    const GpuProfile::Memory& memory = gpu_.memory;
    const double shared_clocks = shared_passes() * scale_ * 128 / gpu_.pipes.shared_bytes;
    add(conflicts() ? "shared memory conflicts" : "shared memory", on_multiprocessors(shared_clocks),
        model_.pipe_efficiency);
    add("L1 bandwidth", on_multiprocessors(l1_clocks()), model_.pipe_efficiency);
    // One multiprocessor cannot take in what the whole L2 can give.
    const double port = on_multiprocessors(made_.traffic.l2 / memory.l2_port_bytes_per_clock);
    const double all = made_.traffic.l2 / memory.l2_bytes_per_second;
    add("L2 bandwidth", std::max(port, all), model_.l2_efficiency);
    add("DRAM bandwidth", made_.traffic.dram() / memory.dram_bytes_per_second, memory.dram_achievable);
    const double constants = static_cast<double>(counters_.constant_passes) * scale_ / gpu_.pipes.constant_addresses;
    add("constant memory", on_multiprocessors(constants), 1);
    const double atomics = static_cast<double>(counters_.global_atomics.sectors) * scale_ / model_.atomics_per_clock;
    const double busiest = static_cast<double>(counters_.busiest_atomics) * scale_ / model_.busiest_atomics_per_clock;
    add("atomics", std::max(atomics, busiest) / gpu_.clocks_per_second(), 1, false);
  }

  //! A load looks up lines, and its words come over 32 banks. Stores go through to L2, sector by sector.
  double l1_clocks() const {
    const auto all = [&](std::uint64_t count) { return static_cast<double>(count) * scale_; };
    const double rate = gpu_.memory.l1_bytes_per_clock / sector_bytes;
    const double found = std::max(all(counters_.global_loads.sectors) / rate,
                                  all(counters_.global_loads.lines) / gpu_.memory.l1_lines_per_clock);
    return std::max(found, all(counters_.global_loads.passes)) + all(counters_.local_accesses.sectors) / rate +
           all(counters_.global_stores.sectors) * model_.store_sector_clocks +
           all(counters_.global_stores.lines) * model_.store_line_clocks;
  }

  void add_dispatch() {
    const double each = model_.block_dispatch_cycles + model_.warp_dispatch_cycles * shape_.warps_per_block();
    add("block starts", busiest_blocks_ * each / gpu_.clocks_per_second(), 1, false);
  }

  //! A multiprocessor that is never full has one wave; the last of several is shorter where blocks end one by one.
  void add_latency() {
    double waves = std::max(made_.waves, 1.0);
    waves += (std::ceil(waves) - waves) * model_.tail_share;
    const double cycles = warp_cycles(gpu_, model_, shape_, counters_, made_.traffic);
    add("latency", waves * cycles / gpu_.clocks_per_second(), 1, false);
  }

  //! Blocks that all began together read together, compute together and wait together: little overlaps.
  double exponent() const {
    return 1 + (model_.soft_maximum_exponent - 1) * (1 - model_.phase_share / std::max(made_.waves, 1.0));
  }

  void combine() {
    double sum = 0;
    for (const TimeComponent& component : made_.components) sum += std::pow(component.milliseconds, exponent());
    const double running = std::pow(sum, 1 / exponent());
    made_.launch_milliseconds = (shape_.in_graph ? gpu_.costs.graph_launch_us : gpu_.costs.launch_us) / 1e3;
    made_.milliseconds = running + made_.launch_milliseconds;
    std::ranges::sort(made_.components, std::ranges::greater{}, &TimeComponent::milliseconds);
    for (TimeComponent& component : made_.components) component.share_of_peak /= running;
    made_.dram_share = made_.traffic.dram() / gpu_.memory.dram_bytes_per_second / (running / 1e3);
    for (const TimeComponent& component : made_.components)
      if (component.name == made_.busiest_pipe) made_.busiest_pipe_share = component.share_of_peak / imbalance_;
    made_.bound = bound_of(running);
  }

  //! Where nearly every instruction that is issued goes to one pipe, that pipe is what a person can do something about.
  std::string longest_component() const {
    const TimeComponent& longest = made_.components.front();
    if (longest.name != "instruction issue") return longest.name;
    for (const TimeComponent& component : made_.components)
      if (component.name == made_.busiest_pipe && component.milliseconds > 0.8 * longest.milliseconds)
        return component.name;
    return longest.name;
  }

  std::string bound_of(double running_ms) const {
    if (made_.launch_milliseconds > running_ms) return "launch";
    const std::string longest = longest_component();
    const bool of_the_chip = longest == "DRAM bandwidth" || longest == "atomics";
    const auto multiprocessors = static_cast<std::uint64_t>(gpu_.chip.multiprocessors);
    if (!of_the_chip && shape_.blocks() * 4 < multiprocessors * 3)
      return fmt::format("too few blocks: {} for {} multiprocessors", shape_.blocks(), multiprocessors);
    if (longest == "latency") return fmt::format("latency: {:.0f}% occupancy", 100 * made_.active_share);
    return longest;
  }

  const GpuProfile& gpu_;
  const KernelShape& shape_;
  const KernelCounters& counters_;
  const ModelParameters& model_;
  double scale_ = 1, imbalance_ = 1, busiest_clocks_ = 0, busiest_blocks_ = 0;
  KernelPrediction made_;
};

}  // namespace

KernelPrediction predict(const GpuProfile& gpu, const KernelShape& shape, const KernelCounters& counters,
                         const ModelParameters& model) {
  return Predictor(gpu, shape, counters, model).run();
}

KernelPrediction predict(const GpuProfile& gpu, const KernelShape& shape, const KernelCounters& counters) {
  return predict(gpu, shape, counters, built_in_model());
}

}  // namespace cudal1::vgpu
