#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#include <cstdint>

namespace cudal1 {

//! A random generator of our own for this device; the global ones stay as they are.
at::Generator make_generator(at::Device device, std::uint64_t seed);

}  // namespace cudal1
