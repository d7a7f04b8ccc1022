#include "device/vgpu/finding_log.hpp"

namespace cudal1::vgpu {

class LoggedObserver : public AccessObserver {
 public:
  LoggedObserver(FindingLog& log, std::unique_ptr<AccessObserver> checks) : log_(log), checks_(std::move(checks)) {}

  void shared(const WarpAccess& access) override {
    look([&] { checks_->shared(access); });
  }
  void global(const WarpAccess& access) override {
    look([&] { checks_->global(access); });
  }
  void local(const WarpAccess& access) override {
    look([&] { checks_->local(access); });
  }
  void copy_begins(const WarpAccess& access) override {
    look([&] { checks_->copy_begins(access); });
  }
  void copy_ends(const WarpAccess& access) override {
    look([&] { checks_->copy_ends(access); });
  }
  void block_barrier(std::span<const Mask> lanes) override {
    look([&] { checks_->block_barrier(lanes); });
  }
  void warp_barrier(std::uint32_t warp, Mask lanes) override {
    look([&] { checks_->warp_barrier(warp, lanes); });
  }
  void fence(std::uint32_t warp, Mask lanes) override {
    look([&] { checks_->fence(warp, lanes); });
  }
  void end() override {
    look([&] { checks_->end(); });
  }

 private:
  template <class Look>
  void look(Look at_it) {
    if (!checks_) return;
    try {
      at_it();
    } catch (const KernelFault& fault) {
      log_.add(fault);
      checks_.reset();
    }
  }

  FindingLog& log_;
  std::unique_ptr<AccessObserver> checks_;  // null after its first finding
};

ObserverFactory FindingLog::watch(ObserverFactory checks, Index3 grid) {
  grid_ = grid;
  if (!checks) return {};
  return [this, checks = std::move(checks)](Index3 block) {
    return std::make_unique<LoggedObserver>(*this, checks(block));
  };
}

void FindingLog::add(const KernelFault& fault) {
  const auto number = [this](const Index3& block) { return number_in<std::uint64_t>(block, grid_); };
  const std::lock_guard lock(mutex_);
  if (!first_ || number(fault.block) < number(first_->block)) first_.emplace(fault);
}

}  // namespace cudal1::vgpu
