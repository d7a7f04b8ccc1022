#include "cli/bench_device.hpp"

#include <fmt/format.h>

#include "base/random.hpp"
#include "device/cuda/driver.hpp"
#include "judge/judge.hpp"

namespace cudal1 {

void set_bench_device(BenchOptions& bench, const std::string& device, const std::string& gpu) {
  std::string reason;
  const bool has_gpu = (device == "auto" || device == "cuda") && cuda::device_count(reason) > 0;
  if (device == "cuda" && !has_gpu)
    throw Error(fmt::format("no GPU to run on: {} (./cudal1 doctor says more)", reason));
  bench.device = device == "auto" ? (has_gpu ? "cuda" : "vgpu") : device;
  bench.gpu = bench.device == "vgpu" ? gpu : "the processor";
  if (!has_gpu) return;
  bench.gpu = cuda::device_info(0).name;
  bench.gpu_id = cuda::device_info(0).uuid;
  bench.device_bytes = device_bytes_to_share(0);
  bench.read_task = load_task_with_metas;
}

void choose_seed(std::uint64_t& seed) {
  if (seed == 0) seed = secret_seed();
}

}  // namespace cudal1
