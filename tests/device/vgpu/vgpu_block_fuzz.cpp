// Whatever block of threads the bytes choose, the machine and the oracle agree on what it does.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "random_block_program.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::size_t at = 0;
  const cudal1::vgpu::Choose choose = [&](std::uint64_t bound) {
    std::uint64_t number = 0;
    for (std::uint64_t reach = 1; reach != 0 && reach < bound; reach <<= 8)
      number = number << 8 | (at < size ? data[at++] : 0);
    return number % bound;
  };
  const std::string problem = cudal1::vgpu::try_random_block_program(choose);
  if (problem.empty()) return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}
