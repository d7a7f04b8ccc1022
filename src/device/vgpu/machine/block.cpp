#include "device/vgpu/machine/block.hpp"

#include <algorithm>

namespace cudal1::vgpu {
namespace {

constexpr std::byte poison{0xff};

}  // namespace

Block::Block(const Launch& launch, const GlobalMemory& memory, AccessPattern* patterns, Tally* tally)
    : launch_(launch) {
  state_.kernel = launch.kernel;
  state_.global = &memory;
  state_.shared.resize(launch.kernel->static_shared_bytes + launch.dynamic_shared_bytes);
  state_.shared_bounds = launch.kernel->shared_arrays.bounds(state_.shared.size());
  state_.grid = launch.grid;
  state_.block = launch.block;
  state_.patterns = patterns;
  state_.tally = tally;
  state_.printed = launch.printed;
  const std::uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  warps_.reserve((threads + warp_size - 1) / warp_size);
  for (std::uint32_t first = 0; first < threads; first += warp_size) warps_.emplace_back(state_, first);
  state_.warps = warps_;
}

void Block::begin(Index3 index) {
  state_.index = index;
  state_.instructions_left = budget();
  std::ranges::fill(state_.shared, poison);
  observer_ = launch_.observers ? launch_.observers(index) : nullptr;
  state_.observer = observer_.get();
  lanes_.clear();
  for (Warp& warp : warps_) {
    warp.begin();
    lanes_.push_back(warp.live());
  }
  state_.barriers.reset(lanes_);
  ended_ = false;
}

void Block::advance() {
  for (;;) {
    const Pass pass = run_every_warp();
    if (std::ranges::all_of(warps_, [](const Warp& warp) { return warp.ended(); })) return end();
    if (pass == Pass::stuck)
      std::ranges::find_if_not(warps_, [](const Warp& warp) { return warp.ended(); })->fail_waiting();
    if (pass == Pass::spun) return;
  }
}

Block::Pass Block::run_every_warp() {
  Pass pass = Pass::stuck;
  for (Warp& warp : warps_) {
    if (!warp.can_run()) continue;
    const WarpState state = warp.run();
    if (state != WarpState::spinning)
      pass = Pass::moved;
    else if (pass == Pass::stuck)
      pass = Pass::spun;
  }
  return pass;
}

std::uint64_t Block::fingerprint() {
  Fingerprint state;
  for (const std::uint32_t number : state_.index) state.add(number);
  state.add(ended_ ? 1 : 0);
  state.add(state_.shared);
  for (Warp& warp : warps_) warp.add_to(state);
  return state.value();
}

void Block::show_to(MemoryWatch* watch) {
  watched_.reset();
  if (watch) watched_.emplace(*watch, state_.index, observer_.get());
  state_.observer = watched_ ? &*watched_ : observer_.get();
}

void Block::end() {
  if (observer_) observer_->end();
  if (state_.tally) state_.tally->end_block();
  ended_ = true;
}

}  // namespace cudal1::vgpu
