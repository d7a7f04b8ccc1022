#pragma once

#include <functional>
#include <memory>

#include "base/channel.hpp"
#include "device/device.hpp"

namespace cudal1 {

//! Answers requests until the judge closes the channel. Returns the process's exit code.
int serve_runner(Channel& channel, const std::function<std::unique_ptr<Device>()>& make_device);

//! The runner's main: restricts the process (`--readable PATH…`), then serves the socket on descriptor 3.
int runner_main(int argc, char** argv, const std::function<std::unique_ptr<Device>()>& make_device);

}  // namespace cudal1
