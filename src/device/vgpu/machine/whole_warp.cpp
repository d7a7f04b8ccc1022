// The innermost loop: a warp whose lanes all go together, up to a step where they may part or wait.
#include "device/vgpu/machine/integer_lanes.hpp"
#include "device/vgpu/machine/load_lanes.hpp"
#include "device/vgpu/machine/reach.hpp"
#include "device/vgpu/machine/real_lanes.hpp"

namespace cudal1::vgpu {
namespace {

//! What the operation's own handler does, without the way there.
template <class F, class R, class... A, std::size_t... I>
CUDAL1_INLINE void compute(std::byte* registers, const Operation& operation, std::index_sequence<I...>) {
  const std::tuple<const WordOf<A>*...> from{reinterpret_cast<const WordOf<A>*>(registers + operation.operands[I])...};
  auto* const to = reinterpret_cast<WordOf<R>*>(registers + operation.result);
#pragma GCC ivdep
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    to[lane] = to_word<R>(F{}(from_word<A>(std::get<I>(from)[lane])...));
}

//! Apart, since it needs many registers of the host's, which the loop then has for itself.
template <int vector>
CUDAL1_WIDE_VECTORS __attribute__((noinline)) void load_any_shape(Registers& registers, const Step& step,
                                                                  const Reach& reach) {
  load_all<true, u32, u32, vector>(Columns<u32, vector>(registers, step), reach);
}

bool is_same(LaneShape shape) { return shape == LaneShape::same || shape == LaneShape::same_by_eights; }
bool is_consecutive(LaneShape shape) {
  return shape == LaneShape::consecutive || shape == LaneShape::consecutive_by_eights;
}

}  // namespace

//! Mostly as it was before; then there is no need to leave the loop. `ready_bytes`: what a pattern must have for that.
template <int vector>
CUDAL1_INLINE void Warp::load_shared(const Step& step, std::uint32_t ready_bytes) {
  const Reach reach = reach_shared_again(step, ready_bytes);
  if (!reach.first) return step.effect(*this, step, full_mask);
  if (vector > 1 || !(is_same(reach.pattern->shape) || is_consecutive(reach.pattern->shape)))
    return load_any_shape<vector>(registers_, step, reach);
  const Columns<u32, 1> columns(registers_, step);
  const bool same = is_same(reach.pattern->shape);
  for (int lane = 0; lane < warp_size; lane += 8) {
    const std::byte* const from = reach.first + reach.pattern->deltas[static_cast<std::size_t>(lane)];
    if (same)
      load_same<true, u32, u32, 1, 8>(columns, from, lane);
    else
      load_consecutive<true, u32, u32, 1, 8>(columns, from, lane);
  }
}

//! The step that comes next; null, and nothing has happened, where they part or are to let others go on.
CUDAL1_INLINE const Step* Warp::branch_together(Group& group, const Step& step) {
  Mask taken = full_mask;
  if (step.guard != 0)
    taken = step.guard_negated ? ~registers_.predicate(step.guard) : registers_.predicate(step.guard);
  if (taken == 0) return &step + 1;
  const Step* const steps = block_.kernel->steps.data();
  const auto here = static_cast<std::uint32_t>(&step - steps);
  const bool goes_back = step.target <= here;
  if (taken != full_mask || (goes_back && (step.spins || group.fuel <= 1))) return nullptr;
  if (goes_back) --group.fuel;
  end_stretch(here + 1, full_mask);
  begin_stretch(step.target, full_mask);
  return steps + step.target;
}

//! True where it is the last to come and goes on.
CUDAL1_INLINE bool Warp::meet_at_barrier(Group& group, const Step& step) {
  group.pc = static_cast<std::uint32_t>(&step - block_.kernel->steps.data());
  come_together(group, step, full_mask);
  if (group.wait != Wait::nothing) return false;
  begin_stretch(group.pc, full_mask);
  return true;
}

//! From this step on; returns the first that it has not done, or `nowhere` if it waits. For hosts with wide vectors.
CUDAL1_WIDE_VECTORS std::uint32_t Warp::run_whole(Group& group, std::uint32_t pc) {
  const Step* const steps = block_.kernel->steps.data();
  std::byte* const registers = registers_.words<std::byte>(0);
  constexpr std::uint32_t never = 0xffff;
  const std::uint32_t word = counts() ? 4 : never, vectors = counts() ? 16 : never;
  for (const Step* step = steps + pc;;) {
    const Operation& operation = step->operation;
    switch (step->quick) {
      case Quick::leave:
        return static_cast<std::uint32_t>(step - steps);
      case Quick::call_operation:
        operation.run(registers_, operation, full_mask);
        break;
      case Quick::call_effect:
        step->effect(*this, *step, full_mask);
        break;
      case Quick::branch: {
        const Step* const next = branch_together(group, *step);
        if (!next) return static_cast<std::uint32_t>(step - steps);
        step = next;
        continue;
      }
      case Quick::load_shared:
        load_shared<1>(*step, word);
        break;
      case Quick::load_shared_vectors:
        load_shared<4>(*step, vectors);
        break;
      case Quick::fused_multiply_add:
        fused_multiply_add(registers, operation);
        break;
      case Quick::add_real:
        add_real(registers, operation);
        break;
      case Quick::multiply_real:
        multiply_real(registers, operation);
        break;
      case Quick::add32:
        compute<Add, u32, u32, u32>(registers, operation, std::make_index_sequence<2>());
        break;
      case Quick::add64:
        compute<Add, u64, u64, u64>(registers, operation, std::make_index_sequence<2>());
        break;
      case Quick::multiply_wide_unsigned:
        compute<MultiplyWide<u64>, u64, u32, u32>(registers, operation, std::make_index_sequence<2>());
        break;
      case Quick::multiply_wide_signed:
        compute<MultiplyWide<i64>, i64, i32, i32>(registers, operation, std::make_index_sequence<2>());
        break;
      case Quick::compare32:
        registers_.predicate(operation.result) = where_it_holds(registers, *step);
        break;
      case Quick::copy32:
        compute<Copy, u32, u32>(registers, operation, std::make_index_sequence<1>());
        break;
      case Quick::copy64:
        compute<Copy, u64, u64>(registers, operation, std::make_index_sequence<1>());
        break;
      case Quick::gather:
        step->effect(*this, *step, full_mask);
        break;
      case Quick::barrier:
        if (!meet_at_barrier(group, *step)) return nowhere;
        break;
      default:
        __builtin_unreachable();
    }
    ++step;
  }
}

}  // namespace cudal1::vgpu
