#include "device/vgpu/machine/collectives.hpp"

#include <algorithm>
#include <cstring>

#include "device/vgpu/machine/half.hpp"
#include "device/vgpu/machine/reach.hpp"

namespace cudal1::vgpu {
namespace {

void give_to_all(Warp& warp, const Step& step, Mask mask, std::uint32_t value) {
  auto* result = warp.registers().words<std::uint32_t>(step.operation.result);
  for_each_lane(mask, [&](int lane) { result[lane] = value; });
}

template <class Word>
Mask lanes_like(Warp& warp, const Step& step, Mask mask, int like) {
  const Word* values = warp.registers().words<Word>(step.operation.operands[0]);
  Mask same = 0;
  for_each_lane(mask, [&](int lane) { same |= values[lane] == values[like] ? Mask{1} << lane : 0; });
  return same;
}

template <class Word>
void match_any(Warp& warp, const Step& step, Mask mask) {
  std::array<Mask, warp_size> found{};  // first all, then written: the result may be the operand's register
  for_each_lane(mask,
                [&](int lane) { found[static_cast<std::size_t>(lane)] = lanes_like<Word>(warp, step, mask, lane); });
  auto* result = warp.registers().words<std::uint32_t>(step.operation.result);
  for_each_lane(mask, [&](int lane) { result[lane] = found[static_cast<std::size_t>(lane)]; });
}

template <class Word>
void match_all(Warp& warp, const Step& step, Mask mask) {
  const bool same = lanes_like<Word>(warp, step, mask, std::countr_zero(mask)) == mask;
  give_to_all(warp, step, mask, same ? mask : 0);
  if (step.operation.second_result == 0) return;
  Mask& predicate = warp.registers().predicate(step.operation.second_result);
  predicate = (predicate & ~mask) | (same ? mask : 0);
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
};
struct Smaller {
  template <class T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
struct Larger {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};
struct And {
  template <class T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};

template <class F, class T>
void reduce(Warp& warp, const Step& step, Mask mask) {
  const auto* values = warp.registers().words<T>(step.operation.operands[0]);
  const int first = std::countr_zero(mask);
  T total = values[first];
  for_each_lane(mask & (mask - 1), [&](int lane) { total = F{}(total, values[lane]); });
  give_to_all(warp, step, mask, static_cast<std::uint32_t>(total));
}

template <class T>
Effect integer_reduction(const std::string& operation) {
  if (operation == "add") return &reduce<Add, T>;
  if (operation == "min") return &reduce<Smaller, T>;
  return operation == "max" ? &reduce<Larger, T> : nullptr;
}

//! From an arbitrary beginning.
std::uint64_t instructions_done(Warp& warp, const Step& step) {
  return (std::uint64_t{1} << 62) - warp.block().instructions_left + warp.uncounted_before(step);
}

// --- atomics of 16 bits and of two such in a word
template <class T>
struct AddOne {
  std::uint16_t operator()(std::uint16_t old, std::uint16_t value, std::uint16_t) const {
    return T::nearest(static_cast<double>(T{old}.as_float()) + static_cast<double>(T{value}.as_float())).bits;
  }
};
template <class T>
struct AddTwo {
  std::uint32_t operator()(std::uint32_t old, std::uint32_t value, std::uint32_t) const {
    const auto part = [&](int shift) {
      return std::uint32_t{
          AddOne<T>{}(static_cast<std::uint16_t>(old >> shift), static_cast<std::uint16_t>(value >> shift), 0)};
    };
    return part(0) | part(16) << 16;
  }
};
struct CompareAndSwap {
  std::uint16_t operator()(std::uint16_t old, std::uint16_t expected, std::uint16_t value) const {
    return old == expected ? value : old;
  }
};
struct Exchange {
  std::uint16_t operator()(std::uint16_t, std::uint16_t value, std::uint16_t) const { return value; }
};

template <class F, class Word>
void small_atomic(Warp& warp, const Step& step, Mask mask) {
  const Reach reach = warp.reach(step, mask, sizeof(Word), AccessKind::atomic);
  for_each_lane(mask, [&](int lane) {
    const auto operand = [&](std::size_t i) {
      const Slot slot = step.operation.operands[i];
      return slot == 0 ? Word{} : static_cast<Word>(warp.registers().words<std::uint32_t>(slot)[lane]);
    };
    Word old;
    std::memcpy(&old, reach.at(lane), sizeof(Word));
    const Word made = F{}(old, operand(1), operand(2));
    std::memcpy(reach.at(lane), &made, sizeof(Word));
    if (step.operation.result != 0) warp.registers().words<std::uint32_t>(step.operation.result)[lane] = old;
  });
}

}  // namespace

Effect find_match(const std::string& mode, int bits) {
  if (mode == "any") return bits == 32 ? &match_any<std::uint32_t> : &match_any<std::uint64_t>;
  if (mode == "all") return bits == 32 ? &match_all<std::uint32_t> : &match_all<std::uint64_t>;
  return nullptr;
}

Effect find_reduction(const std::string& operation, const std::string& type) {
  if (type == "s32") return integer_reduction<std::int32_t>(operation);
  if (type == "u32") return integer_reduction<std::uint32_t>(operation);
  if (type != "b32") return nullptr;
  if (operation == "and") return &reduce<And, std::uint32_t>;
  if (operation == "or") return &reduce<Or, std::uint32_t>;
  return operation == "xor" ? &reduce<Xor, std::uint32_t> : nullptr;
}

void active_lanes(Warp& warp, const Step& step, Mask mask) { give_to_all(warp, step, mask, mask); }

void read_clock(Warp& warp, const Step& step, Mask mask) {
  give_to_all(warp, step, mask, static_cast<std::uint32_t>(instructions_done(warp, step)));
}

void read_wide_clock(Warp& warp, const Step& step, Mask mask) {
  auto* result = warp.registers().words<std::uint64_t>(step.operation.result);
  for_each_lane(mask, [&](int lane) { result[lane] = instructions_done(warp, step); });
}

Effect find_small_atomic(const std::string& operation, const std::string& type) {
  if (operation == "add" && type == "f16") return &small_atomic<AddOne<Half>, std::uint16_t>;
  if (operation == "add" && type == "bf16") return &small_atomic<AddOne<Bfloat>, std::uint16_t>;
  if (operation == "add" && type == "f16x2") return &small_atomic<AddTwo<Half>, std::uint32_t>;
  if (operation == "add" && type == "bf16x2") return &small_atomic<AddTwo<Bfloat>, std::uint32_t>;
  if (operation == "cas" && type == "b16") return &small_atomic<CompareAndSwap, std::uint16_t>;
  return operation == "exch" && type == "b16" ? &small_atomic<Exchange, std::uint16_t> : nullptr;
}

}  // namespace cudal1::vgpu
