// The runner process of the tests: the real one with the host device in place of the GPU.
#include <memory>

#include "host_device/host_device.hpp"
#include "runner/runner_main.hpp"

int main(int argc, char** argv) {
  return cudal1::runner_main(argc, argv,
                             [] { return std::make_unique<cudal1::HostDevice>(cudal1::quirks_of_this_runner()); });
}
