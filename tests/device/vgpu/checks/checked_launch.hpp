// A launch whose accesses a test makes itself, one after the other, without a machine.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "device/vgpu/checks/launch_checks.hpp"
#include "device/vgpu/machine/shared_arrays.hpp"

namespace cudal1::vgpu {

inline constexpr std::uint64_t buffer_address = 0x10000, constant_address = 0x80000;

class CheckedLaunchTest : public ::testing::Test {
 protected:
  using Addresses = std::function<std::uint64_t(std::uint64_t lane)>;

  void SetUp() override {
    memory_.add({buffer_address, 4 * 4096, nullptr, "buffer", true});
    memory_.add({constant_address, 4 * 4096, nullptr, "weights", false});
    launch_.kernel = std::string("k");  // assigning the literal makes GCC 12 warn of nothing
    launch_.grid = {4, 1, 1};
    launch_.block = {128, 1, 1};
    launch_.shared_bytes = 1024;
    launch_.local_bytes = 24;
    launch_.memory = &memory_;
    launch_.scratch = &scratch_;
    arrays_.add("_ZZ1kE4tile", 0, 8);
    arrays_.add_dynamic("rows", 8);
    launch_.arrays = &arrays_;
  }

  AccessObserver& block(std::uint32_t x = 0) {
    if (!checks_) checks_ = make_observers(options_, launch_);
    if (!blocks_[x]) blocks_[x] = checks_({x, 0, 0});
    return *blocks_[x];
  }

  //! All threads come to a barrier, or the warps of this mask.
  void barrier(std::uint32_t warps = 0xf) {
    std::vector<Mask> lanes;
    for (std::uint32_t warp = 0; warp * warp_size < launch_.block[0]; ++warp)
      lanes.push_back((warps >> warp & 1) != 0 ? full_mask : 0);
    block().block_barrier(lanes);
  }

  //! The next access: its line is the number of accesses so far, from 1 on.
  const WarpAccess& access(AccessKind kind, std::uint32_t warp, Mask lanes, const Addresses& addresses,
                           std::uint32_t bytes = 4) {
    places_.push_back({0, static_cast<int>(places_.size()) + 1, 1, 1});
    for (std::uint64_t lane = 0; lane < warp_size; ++lane) addresses_[lane] = addresses(lane);
    access_ = {kind, bytes, lanes, &addresses_, warp, &places_.back()};
    return access_;
  }
  const WarpAccess& access_at(AccessKind kind, std::uint32_t warp, Mask lanes, std::uint64_t address,
                              std::uint32_t bytes = 4) {
    return access(
        kind, warp, lanes, [=](std::uint64_t) { return address; }, bytes);
  }
  //! The same, a write of these values.
  const WarpAccess& storing(const WarpAccess&, const std::function<std::uint32_t(std::uint32_t)>& value) {
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) values_[lane] = value(lane);
    access_.values = values_.data();
    return access_;
  }
  //! The same, whose elements of this size may hold padding.
  const WarpAccess& of_elements(const WarpAccess&, std::uint8_t bytes) {
    access_.element_bytes = bytes;
    return access_;
  }
  const WarpAccess& guess(const WarpAccess&) {
    access_.guess = true;
    return access_;
  }
  const WarpAccess& strong(const WarpAccess&) {
    access_.strong = true;
    return access_;
  }

  //! What the last step of a sequence is reported as.
  template <class Sequence>
  std::optional<FaultKind> finding(Sequence sequence) try {
    sequence();
    return std::nullopt;
  } catch (const KernelFault& fault) {
    message_ = fault.what();
    return fault.kind;
  }

  CheckOptions options_;
  CheckedLaunch launch_;
  GlobalMemory memory_;
  ScratchMarks scratch_;
  SharedArrays arrays_;
  ObserverFactory checks_;
  std::map<std::uint32_t, std::unique_ptr<AccessObserver>> blocks_;
  std::deque<ptx::Location> places_;
  std::array<std::uint64_t, warp_size> addresses_{};
  std::array<std::uint32_t, warp_size> values_{};
  WarpAccess access_;
  std::string message_;
};

inline constexpr auto read = AccessKind::read, write = AccessKind::write, atomic = AccessKind::atomic;
inline constexpr Mask lane0 = 1, lane1 = 2;
inline constexpr std::optional<FaultKind> nothing;

}  // namespace cudal1::vgpu
