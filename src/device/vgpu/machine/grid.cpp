#include "device/vgpu/machine/grid.hpp"

#include <algorithm>

#include "device/vgpu/machine/warp.hpp"

namespace cudal1::vgpu {
namespace {

constexpr int barriers = 16;
constexpr std::byte poison{0xff};

class Block {
 public:
  Block(const Launch& launch, const GlobalMemory& memory, Index3 index) {
    state_.kernel = launch.kernel;
    state_.global = &memory;
    state_.shared.assign(launch.kernel->static_shared_bytes + launch.dynamic_shared_bytes, poison);
    state_.grid = launch.grid;
    state_.block = launch.block;
    state_.index = index;
    state_.instructions_left = launch.most_instructions;
    const std::uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    for (std::uint32_t first = 0; first < threads; first += warp_size) warps_.emplace_back(state_, first);
  }

  void run() {
    while (!ended()) {
      for (Warp& warp : warps_) warp.run();
      if (!ended() && !release_a_barrier()) fail_with_deadlock();
    }
  }

 private:
  bool ended() const {
    return std::ranges::all_of(warps_, [](const Warp& warp) { return warp.ended(); });
  }

  //! A barrier opens when every thread that has not ended waits at it.
  bool release_a_barrier() {
    int live = 0;
    for (const Warp& warp : warps_) live += warp.live_threads();
    for (int barrier = 0; barrier < barriers; ++barrier) {
      int waiting = 0;
      for (const Warp& warp : warps_) waiting += warp.waiting_at(barrier);
      if (waiting != live) continue;
      for (Warp& warp : warps_) warp.release(barrier);
      return true;
    }
    return false;
  }

  [[noreturn]] void fail_with_deadlock() const {
    const auto stuck = std::ranges::find_if(warps_, [](const Warp& warp) { return !warp.ended(); });
    stuck->fail_waiting();
  }

  BlockState state_;
  std::vector<Warp> warps_;
};

}  // namespace

void run_grid(const Launch& launch, const GlobalMemory& memory) {
  GlobalMemory with_parameters = memory;
  // The kernel only reads them.
  auto* parameters = const_cast<std::byte*>(launch.parameters.data());
  with_parameters.add({parameter_window, launch.parameters.size(), parameters, "the kernel's parameters", false});
  for (std::uint32_t z = 0; z < launch.grid[2]; ++z)
    for (std::uint32_t y = 0; y < launch.grid[1]; ++y)
      for (std::uint32_t x = 0; x < launch.grid[0]; ++x) Block(launch, with_parameters, {x, y, z}).run();
}

}  // namespace cudal1::vgpu
