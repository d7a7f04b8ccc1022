#include "device/vgpu/machine/packed_registers.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>
#include <unordered_map>

namespace cudal1::vgpu {
namespace {

//! From the first step that it matters at to the last, in the order of steps.
struct Life {
  std::size_t begin = std::numeric_limits<std::size_t>::max(), end = 0;
  bool any() const { return begin <= end; }
  void extend(std::size_t step) {
    begin = std::min(begin, step);
    end = std::max(end, step);
  }
};

//! By the number of the register.
std::vector<Life> lives_of(const Kernel& kernel, const Liveness& liveness) {
  std::vector<Life> lives(liveness.registers().size());
  for (std::size_t i = 0; i < liveness.stretches().size(); ++i) {
    const auto& [begin, end, wanted] = liveness.stretches()[i];
    wanted.for_each([&, at = begin](std::size_t number) { lives[number].extend(at); });
    liveness.wanted_behind(i).for_each([&, at = end - 1](std::size_t number) { lives[number].extend(at); });
    for (std::size_t step = begin; step < end; ++step)
      liveness.for_each_named(kernel.steps[step], [&](std::size_t number) { lives[number].extend(step); });
  }
  return lives;
}

struct Tenant {
  std::size_t number = 0;  // of a register
  Life life;
};

//! Those that may share a place, in the order in which they come to life. Predicates are small as they are; what is
//! cleared when a block begins, and what steps with many registers name, keeps its own place.
std::vector<Tenant> tenants(const Kernel& kernel, const Liveness& liveness, const std::vector<Life>& lives) {
  std::set<Slot> kept;
  for (const auto& list : kernel.slot_lists) kept.insert(list.begin(), list.end());
  std::vector<Tenant> found;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const auto& [slot, kind] = liveness.registers()[i];
    if (lives[i].any() && kind != Kind::predicate && !kept.contains(slot) && !liveness.wanted_at_entry().contains(i))
      found.push_back({i, lives[i]});
  }
  std::ranges::sort(found, {}, [](const Tenant& tenant) { return tenant.life.begin; });
  return found;
}

//! Places of one size, taken for as long as a register lives and then again by others.
class Lodging {
 public:
  Slot place_for(const Life& life, Kind kind, SlotSpace& space) {
    for (; !taken_.empty() && taken_.top().until < life.begin; taken_.pop()) free_.push_back(taken_.top().slot);
    Slot slot = 0;
    if (free_.empty()) {
      slot = space.reserve(kind);
    } else {
      slot = free_.back();  // the last one used, which is the likeliest to be in a cache
      free_.pop_back();
    }
    taken_.push({life.end, slot});
    return slot;
  }

 private:
  struct Taken {
    std::size_t until;
    Slot slot;
    bool operator>(const Taken& other) const { return until > other.until; }
  };
  std::priority_queue<Taken, std::vector<Taken>, std::greater<>> taken_;
  std::vector<Slot> free_;
};

//! Where everything goes. Registers that no step names go nowhere.
class Moves {
 public:
  Moves(const Kernel& kernel, const Liveness& liveness) {
    const std::vector<Life> lives = lives_of(kernel, liveness);
    const std::vector<Tenant> lodgers = tenants(kernel, liveness, lives);
    for (std::size_t i = 0; i < lives.size(); ++i)
      if (!lives[i].any()) moved_[liveness.registers()[i].slot] = 0;
    for (const Tenant& tenant : lodgers) moved_[liveness.registers()[tenant.number].slot] = 0;  // not yet
    for (const auto& [slot, kind] : kernel.registers->all())
      if (!moved_.contains(slot)) moved_[slot] = space_.reserve(kind);
    Lodging narrow, broad;
    for (const Tenant& tenant : lodgers) {
      const auto& [slot, kind] = liveness.registers()[tenant.number];
      moved_[slot] = (bits_of(kind) == 64 ? broad : narrow).place_for(tenant.life, kind, space_);
    }
  }

  void apply(Slot& slot) const {
    if (slot != 0) slot = moved_.at(slot);
  }
  template <class Slots>
  void apply_to_all(Slots& slots) const {
    for (Slot& slot : slots) apply(slot);
  }
  const SlotSpace& space() const { return space_; }

 private:
  SlotSpace space_;
  std::unordered_map<Slot, Slot> moved_;
};

void move_slots(Step& step, const Moves& moves) {
  for (Slot* slot : {&step.guard, &step.operation.result, &step.operation.second_result, &step.members})
    moves.apply(*slot);
  moves.apply_to_all(step.operation.operands);
  moves.apply_to_all(step.data);
}

}  // namespace

void pack_registers(Kernel& kernel, const Liveness& liveness) {
  const Moves moves(kernel, liveness);
  for (Step& step : kernel.steps) move_slots(step, moves);
  for (auto& list : kernel.slot_lists) moves.apply_to_all(list);
  moves.apply_to_all(kernel.special);
  for (ParameterSlot& parameter : kernel.parameter_slots) moves.apply(parameter.slot);
  for (SlotRange& range : kernel.read_unwritten) moves.apply(range.begin);
  kernel.registers->move([&](Slot& slot) { moves.apply(slot); }, moves.space());
}

}  // namespace cudal1::vgpu
