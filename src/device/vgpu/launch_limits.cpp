#include "device/vgpu/launch_limits.hpp"

#include <fmt/format.h>

#include "device/device.hpp"
#include "program/launch_limits.hpp"

namespace cudal1::vgpu {
namespace {

constexpr Dim3 largest_cluster{most_blocks_per_cluster, most_blocks_per_cluster, most_blocks_per_cluster};
constexpr std::int64_t most_static_shared_bytes = 48 * 1024;               // there is no opt-in for declared arrays
constexpr std::int64_t largest_known_array_bytes = std::int64_t{1} << 32;  // restore_lost_sizes() of the compiler

[[noreturn]] void refuse(const LaunchStep& step, Status status, const std::string& reason) {
  throw DeviceError(status, fmt::format("kernel '{}': {}", step.kernel, reason), false, step.at);
}

void check_size(const LaunchStep& step, const Dim3& size, const Dim3& largest, const char* what) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (size[axis] < 1 || size[axis] > largest[axis])
      refuse(step, Status::launch_error,
             fmt::format("{} dimension {} is {}, a GPU takes 1 to {}", what, "xyz"[axis], size[axis], largest[axis]));
}

void check_threads(const LaunchStep& step, const LoadedKernel& kernel) {
  const std::int64_t threads = step.block[0] * step.block[1] * step.block[2];
  if (threads > most_threads_per_block)
    refuse(step, Status::launch_error,
           fmt::format("a block of {} threads, a GPU takes {}", threads, most_threads_per_block));
  if (threads > kernel.most_threads)
    refuse(step, Status::launch_error,
           fmt::format("a block of {} threads, its launch bounds allow {}", threads, kernel.most_threads));
}

void check_shared(const LaunchStep& step, const LoadedKernel& kernel) {
  const auto declared = static_cast<std::int64_t>(kernel.kernel.static_shared_bytes);
  if (declared > most_static_shared_bytes)
    refuse(step, Status::launch_error,
           fmt::format("{}{} bytes of declared shared memory, a GPU takes {}",
                       declared >= largest_known_array_bytes ? "at least " : "", declared, most_static_shared_bytes));
  if (step.shared_bytes < 0 || step.shared_bytes + declared > most_shared_bytes)
    refuse(step, Status::launch_error,
           fmt::format("{} bytes of shared memory and {} declared, a GPU has {}", step.shared_bytes, declared,
                       most_shared_bytes));
}

void check_local(const LaunchStep& step, const LoadedKernel& kernel) {
  const auto wanted = static_cast<std::int64_t>(kernel.kernel.local_bytes);
  if (wanted > most_local_bytes_per_thread)
    refuse(step, Status::launch_error,
           fmt::format("{} bytes of local memory (arrays of a thread), a GPU has {} for each thread", wanted,
                       most_local_bytes_per_thread));
}

void check_cluster(const LaunchStep& step) {
  if (!step.cluster) return;
  check_size(step, *step.cluster, largest_cluster, "cluster");
  const std::int64_t blocks = (*step.cluster)[0] * (*step.cluster)[1] * (*step.cluster)[2];
  if (blocks > most_blocks_per_cluster)
    refuse(step, Status::launch_error,
           fmt::format("a cluster of {} blocks, a GPU takes {}", blocks, most_blocks_per_cluster));
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (step.grid[axis] % (*step.cluster)[axis] != 0)
      refuse(step, Status::launch_error, "the grid is no multiple of the cluster");
}

void check_arguments(const LaunchStep& step, const LoadedKernel& kernel) {
  const auto& parameters = kernel.kernel.parameters;
  if (step.args.size() != parameters.size())
    refuse(step, Status::plan_error, fmt::format("takes {} arguments, got {}", parameters.size(), step.args.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto* scalar = std::get_if<ScalarArgument>(&step.args[i]);
    const std::uint64_t given = scalar ? static_cast<std::uint64_t>(scalar->size_bytes) : sizeof(std::uint64_t);
    if (given != parameters[i].bytes())
      refuse(step, Status::plan_error,
             fmt::format("parameter {} has {} bytes, the argument {}", i + 1, parameters[i].bytes(), given));
  }
}

}  // namespace

Index3 index_of(const Dim3& size) {
  return {static_cast<std::uint32_t>(size[0]), static_cast<std::uint32_t>(size[1]),
          static_cast<std::uint32_t>(size[2])};
}

void check_launch(const LaunchStep& step, const LoadedKernel* kernel) {
  if (!kernel) refuse(step, Status::plan_error, "is not in the compiled module");
  check_arguments(step, *kernel);
  check_size(step, step.grid, largest_grid, "grid");
  check_size(step, step.block, largest_block, "block");
  check_threads(step, *kernel);
  check_shared(step, *kernel);
  check_local(step, *kernel);
  check_cluster(step);
}

}  // namespace cudal1::vgpu
