// What functions that call themselves leave behind: one stack for each lane.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "device/vgpu/machine/fingerprint.hpp"
#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

class CallStack {
 public:
  std::vector<std::byte>& of(int lane) {
    used_ = true;
    return bytes_[static_cast<std::size_t>(lane)];
  }
  void add_to(Fingerprint& state) const {
    if (!used_) return;
    for (const auto& bytes : bytes_) state.add(bytes);
  }
  void forget() {
    if (!used_) return;
    for (auto& bytes : bytes_) bytes.clear();
    used_ = false;
  }

 private:
  bool used_ = false;
  std::array<std::vector<std::byte>, warp_size> bytes_;
};

//! The registers of a function, in Kernel::frames[step.target], go to the stack of each lane, or come back from it.
void save_frame(Warp& warp, const Step& step, Mask mask);
void restore_frame(Warp& warp, const Step& step, Mask mask);

//! In local memory step.target bytes from operands[1] on go to operands[0]: offsets, not slots.
void copy_parameter(Warp& warp, const Step& step, Mask mask);

//! For who watches: these bytes of every lane's local memory hold something now, which no instruction stored.
void show_filled(Warp& warp, const Step& step, Mask mask, std::uint64_t begin, std::uint64_t bytes);

}  // namespace cudal1::vgpu
