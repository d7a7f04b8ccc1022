#include "dialect/solution_device.hpp"

namespace cudal1 {

SolutionDevice solution_device_on_cpu() {
  SolutionDevice device;
  device.info.name = "CPU";
  device.info.uuid = "cpu";
  device.make_arena = [](std::uint64_t bytes) { return make_host_arena(bytes); };
  device.synchronize = [] {};
  return device;
}

SolutionDevice solution_device_on(std::shared_ptr<Backend> backend) {
  SolutionDevice device;
  device.tensors = at::Device(at::kCUDA, 0);
  device.info = backend->info();
  device.peak_bytes_per_second = backend->peak_bytes_per_second();
  device.make_arena = [backend](std::uint64_t bytes) { return backend->make_arena(bytes); };
  device.synchronize = [backend] { backend->synchronize(); };
  device.backend = std::move(backend);
  return device;
}

}  // namespace cudal1
