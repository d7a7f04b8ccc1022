#include "device/vgpu/checks/launch_checks.hpp"

#include <optional>

#include "device/vgpu/checks/block_global_races.hpp"
#include "device/vgpu/checks/copies_in_flight.hpp"
#include "device/vgpu/checks/global_races.hpp"
#include "device/vgpu/checks/shared_races.hpp"
#include "device/vgpu/checks/uninitialised_reads.hpp"

namespace cudal1::vgpu {
namespace {

class BlockChecks : public AccessObserver {
 public:
  BlockChecks(const CheckOptions& options, const CheckedLaunch& launch, Index3 index, GlobalRaceState* between_blocks)
      : block_{&launch, index}, order_(block_.threads()) {
    if (options.shared_races && launch.shared_bytes > 0) {
      copies_.emplace(block_);
      shared_races_.emplace(block_, order_);
    }
    if (options.uninitialised) uninitialised_.emplace(block_);
    if (options.global_races) races_inside_.emplace(block_, order_);
    if (between_blocks) global_races_.emplace(block_, *between_blocks);
  }

  void shared(const WarpAccess& access) override {
    if (copies_) copies_->access(access);
    if (uninitialised_) uninitialised_->shared(access);
    if (!shared_races_) return;
    hand_over(access);
    shared_races_->access(access);
  }
  //! It may write at once, or when it is waited for: both count.
  void copy_begins(const WarpAccess& access) override {
    shared(access);
    if (copies_) copies_->begin(access);
  }
  void copy_ends(const WarpAccess& access) override {
    if (copies_) copies_->end(access);
    if (shared_races_) shared_races_->access(access);
  }
  void global(const WarpAccess& access) override {
    if (uninitialised_) uninitialised_->global(access);
    if (global_races_) global_races_->access(access);
    hand_over(access);
    if (races_inside_) races_inside_->access(access);
  }
  void local(const WarpAccess& access) override {
    if (uninitialised_) uninitialised_->local(access);
  }
  void block_barrier(std::span<const Mask> lanes) override { order_.block_barrier(lanes); }
  void warp_barrier(std::uint32_t warp, Mask lanes) override { order_.warp_barrier(warp, lanes); }
  void fence(std::uint32_t warp, Mask) override {
    order_.fence(warp);
    if (global_races_) global_races_->fence();
  }
  void end() override {
    if (global_races_) global_races_->settle();
  }

 private:
  void hand_over(const WarpAccess& access) {
    if (!order_.has_fences() || (access.kind != AccessKind::atomic && !access.strong)) return;
    for_each_lane(access.mask, [&](int lane) {
      order_.hand_over(access.warp, (*access.addresses)[static_cast<std::size_t>(lane)],
                       access.kind != AccessKind::read, access.kind != AccessKind::write);
    });
  }

  BlockPlace block_;
  BlockOrder order_;
  std::optional<CopiesInFlight> copies_;
  std::optional<SharedRaces> shared_races_;
  std::optional<UninitialisedReads> uninitialised_;
  std::optional<GlobalRaces> global_races_;
  std::optional<BlockGlobalRaces> races_inside_;
};

//! What the blocks of a launch share.
class LaunchChecks {
 public:
  LaunchChecks(const CheckOptions& options, CheckedLaunch launch) : options_(options), launch_(std::move(launch)) {
    const std::uint32_t blocks = launch_.grid[0] * launch_.grid[1] * launch_.grid[2];
    // A single block races with no other.
    if (options.global_races && blocks > 1) between_blocks_ = std::make_unique<GlobalRaceState>(blocks);
  }
  std::unique_ptr<AccessObserver> for_block(Index3 index) const {
    return std::make_unique<BlockChecks>(options_, launch_, index, between_blocks_.get());
  }

 private:
  CheckOptions options_;
  CheckedLaunch launch_;
  std::unique_ptr<GlobalRaceState> between_blocks_;
};

}  // namespace

ObserverFactory make_observers(const CheckOptions& options, CheckedLaunch launch) {
  if (!options.shared_races && !options.global_races && !options.uninitialised) return {};
  const auto checks = std::make_shared<const LaunchChecks>(options, std::move(launch));
  return [checks](Index3 index) { return checks->for_block(index); };
}

}  // namespace cudal1::vgpu
