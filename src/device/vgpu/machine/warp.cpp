#include "device/vgpu/machine/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/vgpu/machine/arithmetic_lanes.hpp"

namespace cudal1::vgpu {
namespace {

constexpr std::byte poison{0xff};

// How often lanes go round a loop before they let others go on. A loop that may wait for others, as a lock does, goes
// round a few times; for any other it pays to wait at its end until all lanes have come.
constexpr int full_fuel = 1 << 14;
constexpr int fuel_of_spinning = full_fuel / 16;

const bool has_wide_vectors = host_has_wide_vectors();

}  // namespace

Warp::Warp(BlockState& block, std::uint32_t first_thread)
    : block_(block),
      first_thread_(first_thread),
      registers_(block.kernel->registers->bytes()),
      local_(block.kernel->local_bytes * warp_size) {
  block.kernel->registers->fill_constants(registers_);
  set_special_registers();
  set_parameters();
}

void Warp::set_parameters() {
  for (const auto& [slot, offset, bytes] : block_.kernel->parameter_slots) {
    const Segment* parameters = block_.global->find(parameter_window + offset, bytes);
    if (!parameters) continue;
    std::uint64_t bits = 0;
    std::memcpy(&bits, parameters->host + offset, bytes);
    if (bytes == 8)
      std::fill_n(registers_.words<std::uint64_t>(slot), warp_size, bits);
    else
      std::fill_n(registers_.words<std::uint32_t>(slot), warp_size, static_cast<std::uint32_t>(bits));
  }
}

void Warp::begin() {
  const std::uint32_t threads = block_.block[0] * block_.block[1] * block_.block[2];
  const std::uint32_t mine = std::min<std::uint32_t>(warp_size, threads - first_thread_);
  live_ = mine == warp_size ? full_mask : (Mask{1} << mine) - 1;
  group_count_ = 0;
  add_group({0, live_});
  // What a program reads before it writes it must not depend on which block was here before.
  for (const auto& [slot, bytes] : block_.kernel->read_unwritten) registers_.clear(slot, bytes);
  std::ranges::fill(local_, poison);
  async_copies_.forget();
  call_stack_.forget();
  constexpr auto block_x = static_cast<std::size_t>(Special::ctaid_x);
  for (std::size_t i = 0; i < 3; ++i)
    if (const Slot slot = block_.kernel->special[block_x + i]; slot != 0)
      std::fill_n(registers_.words<std::uint32_t>(slot), warp_size, block_.index[i]);
}

//! Those that are the same for every block; begin() sets the others.
void Warp::set_special_registers() {
  for (std::size_t i = 0; i < block_.kernel->special.size(); ++i) {
    const Slot slot = block_.kernel->special[i];
    if (slot == 0) continue;
    auto* words = registers_.words<std::uint32_t>(slot);
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      const Index3 thread = index_in(first_thread_ + lane, block_.block);
      const std::uint32_t values[] = {thread[0],
                                      thread[1],
                                      thread[2],
                                      block_.block[0],
                                      block_.block[1],
                                      block_.block[2],
                                      block_.index[0],
                                      block_.index[1],
                                      block_.index[2],
                                      block_.grid[0],
                                      block_.grid[1],
                                      block_.grid[2],
                                      lane,
                                      first_thread_ / warp_size};
      words[lane] = values[i];
    }
  }
}

Index3 Warp::thread_at(int lane) const {
  return index_in(first_thread_ + static_cast<std::uint32_t>(lane), block_.block);
}

void Warp::fail(FaultKind kind, const std::string& message, int lane, const Step& step,
                std::optional<std::uint64_t> address) const {
  throw KernelFault(kind, message, step.at, block_.index, thread_at(lane), address);
}

void Warp::fail_waiting() const {
  const Group& group = groups_.front();
  const int lane = std::countr_zero(group.mask);
  const auto& steps = block_.kernel->steps;
  if (group.wait == Wait::barrier)
    fail(FaultKind::deadlock,
         fmt::format("{} threads of the warp wait at barrier {} for others that never come", std::popcount(group.mask),
                     group.barrier),
         lane, steps[group.pc - 1]);
  const Mask missing = group.members & live_ & ~waiting_like(group);
  fail(FaultKind::deadlock,
       fmt::format("{} lanes wait for lane {} of their warp, which never comes", std::popcount(group.mask),
                   std::countr_zero(missing)),
       lane, steps[group.wait == Wait::lanes ? group.pc : group.pc - 1]);
}

void Warp::fail_endless() const {
  const auto runs = std::ranges::find(groups(), Wait::nothing, &Group::wait);
  fail_endless(runs->pc + 1, runs->mask);
}

void Warp::add_to(Fingerprint& state) {
  state.add(live_);
  for (const Group& group : groups()) {
    state.add(std::uint64_t{group.pc} << 32 | group.mask);
    state.add(static_cast<std::uint64_t>(group.wait) << 32 | group.barrier);
    state.add(group.members);
  }
  state.add({registers_.words<std::byte>(0), block_.kernel->registers->bytes()});
  state.add(local_);
  state.add(async_copies_.pending());
  call_stack_.add_to(state);
}

// --- which lanes go on

bool Warp::any_group_can_run() const {
  return std::ranges::any_of(groups(), [](const Group& group) { return group.wait == Wait::nothing; });
}

WarpState Warp::run() {
  for (Group& group : groups()) group.fuel = full_fuel;
  if (is_whole() && groups_[0].wait == Wait::nothing && has_wide_vectors) {
    begin_stretch(groups_[0].pc, full_mask);
    const std::uint32_t pc = run_whole(groups_[0], groups_[0].pc);
    if (pc == nowhere) return WarpState::waiting;
    go_on(groups_[0], pc, nowhere, true);
  }
  while (Group* group = next_group()) run_group(*group);
  if (ended()) return WarpState::ended;
  return can_run() ? WarpState::spinning : WarpState::waiting;
}

//! The group with the smallest program counter among those that neither wait nor have run out of fuel.
Warp::Group* Warp::next_group() {
  if (group_count_ == 1 && groups_[0].mask != 0) {
    Group& only = groups_[0];
    if (only.wait == Wait::barrier) return nullptr;
    if (only.wait == Wait::nothing) return only.fuel > 0 ? &only : nullptr;
  }
  remove_empty_groups();
  end_waits_for_lanes();
  if (group_count_ > 1) unite_groups();
  Group* best = nullptr;
  for (Group& group : groups())
    if (group.wait == Wait::nothing && group.fuel > 0 && (!best || group.pc < best->pc)) best = &group;
  return best;
}

void Warp::remove_empty_groups() {
  const auto end = std::remove_if(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(group_count_),
                                  [](const Group& group) { return group.mask == 0; });
  group_count_ = static_cast<std::uint32_t>(end - groups_.begin());
}

//! All lanes that wait for the same lanes: at the same step, or at any barrier of the warp.
Mask Warp::waiting_like(const Group& group) const {
  Mask lanes = 0;
  for (const Group& other : groups())
    if (other.wait == group.wait && other.members == group.members &&
        (other.pc == group.pc || group.wait == Wait::warp_barrier))
      lanes |= other.mask;
  return lanes;
}

//! Lanes that have ended are not waited for.
void Warp::end_waits_for_lanes() {
  for (std::size_t i = 0; i < group_count_; ++i) {
    const Group group = groups_[i];
    if (group.wait != Wait::lanes && group.wait != Wait::warp_barrier) continue;
    const Mask here = waiting_like(group);
    if ((group.members & live_ & ~here) != 0) continue;
    if (block_.observer && group.wait == Wait::warp_barrier) block_.observer->warp_barrier(index(), here);
    for (Group& other : groups())
      if (other.wait == group.wait && (other.mask & here) != 0) other.wait = Wait::nothing;
  }
}

//! Groups that have met become one.
void Warp::unite_groups() {
  for (std::size_t i = 0; i < group_count_; ++i)
    for (std::size_t j = i + 1; j < group_count_; ++j) {
      if (groups_[i].wait != Wait::nothing || groups_[j].wait != Wait::nothing || groups_[i].pc != groups_[j].pc)
        continue;
      groups_[i].mask |= groups_[j].mask;
      groups_[i].fuel = std::max(groups_[i].fuel, groups_[j].fuel);
      groups_[j--] = groups_[--group_count_];
    }
}

//! Where a group that runs next comes upon another.
std::uint32_t Warp::next_meeting(const Group& running) const {
  std::uint32_t nearest = nowhere;
  for (const Group& group : groups())
    if (&group != &running && group.wait == Wait::nothing && group.pc > running.pc)
      nearest = std::min(nearest, group.pc);
  return nearest;
}

// --- what they do

//! Until it meets another group, waits, parts, ends, or is to let others go on.
void Warp::run_group(Group& group) {
  const std::uint32_t limit = next_meeting(group);
  const bool whole = has_wide_vectors && group.mask == full_mask && limit == nowhere;
  begin_stretch(group.pc, group.mask);
  std::uint32_t pc = group.pc;
  if (whole && (pc = run_whole(group, pc)) == nowhere) return;
  go_on(group, pc, limit, whole);
}

//! The same from this step on, which run_whole() could not do if the warp is whole.
void Warp::go_on(Group& group, std::uint32_t pc, std::uint32_t limit, bool whole) {
  const Step* const steps = block_.kernel->steps.data();
  const Mask lanes = group.mask;  // which control() leaves as they are while it says true
  while (pc < limit) {
    const Step& step = steps[pc];
    Mask mask = lanes;
    if (step.guard != 0) {
      const Mask guard = registers_.predicate(step.guard);
      mask &= step.guard_negated ? ~guard : guard;
    }
    if (step.flow <= Flow::effect) {
      if (mask != lanes && block_.tally) block_.tally->leave_out(lanes & ~mask);
      if (mask != 0) {
        if (step.flow == Flow::compute)
          step.operation.run(registers_, step.operation, mask);
        else
          step.effect(*this, step, mask);
      }
      ++pc;
    } else {
      group.pc = pc;
      if (!control(group, step, mask)) return;
      pc = group.pc;
    }
    if (whole && (pc = run_whole(group, pc)) == nowhere) return;
  }
  group.pc = pc;
  end_stretch(pc, lanes);
}

//! True when the group goes on, with the same lanes, at group.pc. Otherwise the stretch has been ended.
bool Warp::control(Group& group, const Step& step, Mask mask) {
  switch (step.flow) {
    case Flow::branch:
      return branch(group, step, mask);
    case Flow::gather:
      return gather(group, step, mask);
    case Flow::exit:
      return exit(group, mask);
    case Flow::barrier:
      return come_to_barrier(group, step, mask);
    case Flow::warp_barrier:
      end_stretch(++group.pc, group.mask);
      wait_for_lanes(group, step, mask, group.pc, Wait::warp_barrier);
      return false;
    default:
      return false;
  }
}

bool Warp::branch(Group& group, const Step& step, Mask taken) {
  const std::uint32_t here = group.pc++;
  if (taken == 0) return true;
  end_stretch(group.pc, group.mask);
  if (taken == group.mask) {
    group.pc = step.target;
    if (step.target <= here && !go_back(group, step)) return false;
    if (group_count_ > 1) return false;  // it may have jumped over another
    begin_stretch(group.pc, group.mask);
    return true;
  }
  if (block_.tally) block_.tally->diverge();
  group.mask &= ~taken;
  Group& other = add_group(group);
  other.mask = taken;
  other.pc = step.target;
  if (step.target <= here) go_back(other, step);
  return false;
}

//! False when it has gone round often enough.
bool Warp::go_back(Group& group, const Step& step) {
  group.fuel -= step.spins ? fuel_of_spinning : 1;
  return group.fuel > 0;
}

//! Lanes do it together with the members that they name, once all of those are here that have not ended.
bool Warp::gather(Group& group, const Step& step, Mask mask) {
  Mask incomplete = 0;
  for (Mask rest = mask; rest != 0;) {
    const Mask members = registers_.words<std::uint32_t>(step.members)[std::countr_zero(rest)];
    const Mask lanes = rest & lanes_with(step.members, members);
    check_members(step, lanes, members);
    rest &= ~lanes;
    if ((members & live_ & ~lanes) != 0) {
      incomplete |= lanes;
      continue;
    }
    if (step.needs_all_lanes && lanes != full_mask) fail_incomplete(step, lanes);
    step.effect(*this, step, lanes);
  }
  if (mask != group.mask && block_.tally) block_.tally->leave_out(group.mask & ~mask);
  if (incomplete != 0) {
    part_at_gather(group, step, incomplete);
    return false;
  }
  ++group.pc;
  return true;
}

//! Lanes that wait come to the step again, and are counted then.
void Warp::part_at_gather(Group& group, const Step& step, Mask incomplete) {
  const bool some_go_on = incomplete != group.mask;
  if (some_go_on && block_.tally) block_.tally->leave_out(incomplete);
  end_stretch(group.pc + (some_go_on ? 1 : 0), group.mask);
  const std::uint32_t here = group.pc++;  // of those that go on, unless all wait
  wait_for_lanes(group, step, incomplete, here, Wait::lanes);
}

void Warp::check_members(const Step& step, Mask lanes, Mask members) const {
  if ((lanes & ~members) != 0)
    fail(FaultKind::inactive_lane, "a lane that the member mask does not name", std::countr_zero(lanes & ~members),
         step);
}

void Warp::fail_incomplete(const Step& step, Mask lanes) const {
  fail(FaultKind::inactive_lane,
       fmt::format("{} lanes of the warp do what all 32 must do together; lane {} is not there", std::popcount(lanes),
                   std::countr_one(lanes)),
       std::countr_zero(lanes), step);
}

//! Lanes with different member masks wait apart. Those that the guard leaves out go on.
void Warp::wait_for_lanes(Group& group, const Step& step, Mask mask, std::uint32_t pc, Wait kind) {
  while (mask != 0) {
    const Mask members = registers_.words<std::uint32_t>(step.members)[std::countr_zero(mask)];
    const Mask lanes = mask & lanes_with(step.members, members);
    check_members(step, lanes, members);
    mask &= ~lanes;
    wait(group, lanes, {pc, 0, kind, 0, members, group.fuel});
  }
}

//! These lanes of the group become one that waits.
void Warp::wait(Group& group, Mask mask, Group waiting) {
  waiting.mask = mask;
  if (mask == group.mask) {
    group = waiting;
  } else {
    group.mask &= ~mask;
    add_group(waiting);
  }
}

bool Warp::exit(Group& group, Mask mask) {
  ++group.pc;
  if (mask == 0) return true;
  end_stretch(group.pc, group.mask);
  group.mask &= ~mask;
  live_ &= ~mask;
  block_.barriers.leave(index(), mask);
  open_barriers();
  return false;
}

// --- barriers of the block

bool Warp::come_to_barrier(Group& group, const Step& step, Mask mask) {
  if (step.barrier_is_fixed && mask == group.mask)
    come_together(group, step, mask);
  else
    come_to_barriers(group, step, mask);
  return false;
}

//! Lanes may name different barriers. Those that the guard leaves out go on.
void Warp::come_to_barriers(Group& group, const Step& step, Mask mask) {
  end_stretch(++group.pc, group.mask);
  const Slot count = step.operation.operands[1];
  while (mask != 0) {
    const int lane = std::countr_zero(mask);
    const std::uint32_t barrier = registers_.words<std::uint32_t>(step.operation.operands[0])[lane];
    const std::uint32_t threads = count == 0 ? 0 : registers_.words<std::uint32_t>(count)[lane];
    Mask lanes = mask & lanes_with(step.operation.operands[0], barrier);
    if (count != 0) lanes &= lanes_with(count, threads);
    mask &= ~lanes;
    if (step.barrier != BarrierUse::arrive) wait(group, lanes, {group.pc, 0, Wait::barrier, barrier, 0, group.fuel});
    arrive(step, barrier, threads, lanes);
  }
}

void Warp::arrive(const Step& step, std::uint32_t barrier, std::uint32_t threads, Mask mask) {
  Mask votes = 0;
  if (const Slot vote = step.operation.operands[2]; vote != 0)
    votes = (step.vote_negated ? ~registers_.predicate(vote) : registers_.predicate(vote)) & mask;
  const auto place = static_cast<std::uint32_t>(&step - block_.kernel->steps.data());
  if (const auto wrong = block_.barriers.arrive({index(), barrier, threads, mask, votes, place}))
    fail(FaultKind::wrong_barrier, *wrong, std::countr_zero(mask), step);
  check_place(step, barrier, threads, mask);
  open_barriers();
}

inline void Warp::release(std::uint32_t barrier) {
  for (Group& group : groups()) {
    if (group.wait != Wait::barrier || group.barrier != barrier) continue;
    group.wait = Wait::nothing;
    group.fuel = full_fuel;
    const Step& step = block_.kernel->steps[group.pc - 1];
    if (step.operation.result != 0) write_barrier_result(step, barrier, group.mask);
  }
}

void Warp::open_barriers() {
  while (const auto barrier = block_.barriers.complete()) {
    if (block_.observer) block_.observer->block_barrier(block_.barriers.came_to(*barrier));
    for (Warp& warp : block_.warps) warp.release(*barrier);
    block_.barriers.open(*barrier);
  }
}

void Warp::write_barrier_result(const Step& step, std::uint32_t barrier, Mask mask) {
  const std::uint32_t votes = block_.barriers.votes(barrier);
  if (step.barrier == BarrierUse::count_votes) {
    auto* words = registers_.words<std::uint32_t>(step.operation.result);
    for (Mask rest = mask; rest != 0; rest &= rest - 1) words[std::countr_zero(rest)] = votes;
    return;
  }
  const bool holds = step.barrier == BarrierUse::any_vote ? votes != 0 : votes == block_.barriers.voters(barrier);
  Mask& result = registers_.predicate(step.operation.result);
  result = (result & ~mask) | (holds ? mask : 0);
}

Mask Warp::lanes_with(Slot slot, std::uint32_t value) {
  const auto* words = registers_.words<std::uint32_t>(slot);
  std::uint32_t difference = 0;  // mostly there is none
  for (int lane = 0; lane < warp_size; ++lane) difference |= words[lane] ^ value;
  if (difference == 0) return full_mask;
  Mask lanes = 0;
  for (int lane = 0; lane < warp_size; ++lane) lanes |= words[lane] == value ? Mask{1} << lane : 0;
  return lanes;
}

// --- what is counted

void Warp::fail_endless(std::uint32_t end, Mask lanes) const {
  fail(FaultKind::too_many_instructions, "the kernel does not end", std::countr_zero(lanes),
       block_.kernel->steps[end - 1]);
}

}  // namespace cudal1::vgpu
