// Barriers of the block that threads come to in different places. They open all the same, here as on a GPU, but what
// lies before and behind them is then not what the program says.
#include <fmt/format.h>

#include "device/vgpu/machine/warp.hpp"

namespace cudal1::vgpu {

//! Lanes of a warp come to an aligned barrier in one instruction, and all threads of a block to __syncthreads(), which
//! is barrier 0. At others warps may meet from where they like. Who has ended need not come.
void Warp::check_place(const Step& step, std::uint32_t barrier, std::uint32_t threads, Mask mask) const {
  if (!step.barrier_is_aligned || step.barrier == BarrierUse::arrive) return;
  const bool is_for_all = barrier == 0 && threads == 0;
  for (const Warp& warp : block_.warps)
    if (&warp == this || is_for_all) check_place_against(warp, step, barrier, std::countr_zero(mask));
}

void Warp::check_place_against(const Warp& other, const Step& step, std::uint32_t barrier, int lane) const {
  for (const Group& group : other.groups()) {
    if (group.wait != Wait::barrier || group.barrier != barrier) continue;
    const Step& elsewhere = block_.kernel->steps[group.pc - 1];
    if (&elsewhere == &step || !elsewhere.barrier_is_aligned) continue;
    fail(FaultKind::divergent_barrier,
         fmt::format("the thread comes to barrier {} here, thread {} of {} at {}: {} must come to it in one place",
                     barrier, text_of(other.thread_at(std::countr_zero(group.mask))),
                     &other == this ? "its warp" : "its block", place_of(elsewhere.at),
                     &other == this ? "all threads of a warp" : "all threads"),
         lane, step);
  }
}

}  // namespace cudal1::vgpu
