#pragma once

#include <functional>
#include <memory>

#include "base/channel.hpp"
#include "device/device.hpp"

namespace cudal1 {

//! Answers requests until the judge closes the channel. `restrict` is called once the device is open and before
//! anything of a candidate arrives: drivers need calls at their start that they never need again. Does not return.
[[noreturn]] void serve_runner(Channel& channel, const std::function<std::unique_ptr<Device>()>& make_device,
                               const std::function<void()>& restrict);

//! The runner's main: serves the socket on descriptor 3, restricted to `--readable PATH` and `--writable PATH`.
int runner_main(int argc, char** argv, const std::function<std::unique_ptr<Device>()>& make_device);

}  // namespace cudal1
