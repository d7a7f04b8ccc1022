#include "graph/generator.hpp"

#include <ATen/Context.h>

namespace cudal1 {

at::Generator make_generator(at::Device device, std::uint64_t seed) {
  if (!device.is_cpu()) at::globalContext().lazyInitDevice(device.type());
  at::Generator generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(seed);
  return generator;
}

}  // namespace cudal1
