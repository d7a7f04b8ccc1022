#include "device/vgpu/machine/call_stack.hpp"

#include <algorithm>
#include <cstring>

#include "device/vgpu/machine/warp.hpp"

namespace cudal1::vgpu {
namespace {

constexpr std::size_t most_bytes_on_stack = std::size_t{1} << 20;

const Frame& frame_of(Warp& warp, const Step& step) { return warp.block().kernel->frames[step.target]; }

//! A lane's part of a register: a bit of a predicate takes a byte.
std::size_t bytes_of(Kind kind) { return kind == Kind::predicate ? 1 : bits_of(kind) == 64 ? 8 : 4; }

void push(std::vector<std::byte>& stack, const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  stack.insert(stack.end(), begin, begin + bytes);
}

void save_register(Registers& registers, const RegisterMap::Register& saved, int lane, std::vector<std::byte>& stack) {
  if (saved.kind == Kind::predicate) {
    const auto bit = static_cast<std::byte>(registers.predicate(saved.slot) >> lane & 1);
    push(stack, &bit, 1);
  } else if (bytes_of(saved.kind) == 8) {
    push(stack, registers.words<std::uint64_t>(saved.slot) + lane, 8);
  } else {
    push(stack, registers.words<std::uint32_t>(saved.slot) + lane, 4);
  }
}

void restore_register(Registers& registers, const RegisterMap::Register& saved, int lane, const std::byte* from) {
  if (saved.kind == Kind::predicate) {
    Mask& predicate = registers.predicate(saved.slot);
    predicate = (predicate & ~(Mask{1} << lane)) | static_cast<Mask>(*from) << lane;
  } else if (bytes_of(saved.kind) == 8) {
    std::memcpy(registers.words<std::uint64_t>(saved.slot) + lane, from, 8);
  } else {
    std::memcpy(registers.words<std::uint32_t>(saved.slot) + lane, from, 4);
  }
}

}  // namespace

void save_frame(Warp& warp, const Step& step, Mask mask) {
  const Frame& frame = frame_of(warp, step);
  for_each_lane(mask, [&](int lane) {
    std::vector<std::byte>& stack = warp.call_stack().of(lane);
    if (stack.size() > most_bytes_on_stack)
      warp.fail(FaultKind::out_of_bounds, "a function calls itself until its stack is full", lane, step);
    for (const RegisterMap::Register& saved : frame.registers) save_register(warp.registers(), saved, lane, stack);
    if (frame.local_bytes > 0) push(stack, warp.local(frame.local_begin, 1, lane, step), frame.local_bytes);
  });
}

void restore_frame(Warp& warp, const Step& step, Mask mask) {
  const Frame& frame = frame_of(warp, step);
  std::size_t bytes = frame.local_bytes;
  for (const RegisterMap::Register& saved : frame.registers) bytes += bytes_of(saved.kind);
  for_each_lane(mask, [&](int lane) {
    std::vector<std::byte>& stack = warp.call_stack().of(lane);
    const std::byte* from = stack.data() + (stack.size() - bytes);
    for (const RegisterMap::Register& saved : frame.registers) {
      restore_register(warp.registers(), saved, lane, from);
      from += bytes_of(saved.kind);
    }
    if (frame.local_bytes > 0) std::memcpy(warp.local(frame.local_begin, 1, lane, step), from, frame.local_bytes);
    stack.resize(stack.size() - bytes);
  });
}

void copy_parameter(Warp& warp, const Step& step, Mask mask) {
  for_each_lane(mask, [&](int lane) {
    std::byte* to = warp.local(step.operation.operands[0], 1, lane, step);
    std::memmove(to, warp.local(step.operation.operands[1], 1, lane, step), step.target);
  });
  show_filled(warp, step, mask, step.operation.operands[0], step.target);
}

void show_filled(Warp& warp, const Step& step, Mask mask, std::uint64_t begin, std::uint64_t bytes) {
  if (!warp.block().observer) return;
  constexpr std::uint64_t widest = 16;  // of loads and stores, which lie at a multiple of their size
  const std::uint64_t end = begin + bytes;
  for (std::uint64_t next = begin; next < end;) {
    const std::uint64_t part = std::min(widest - next % widest, end - next);
    std::array<std::uint64_t, warp_size> addresses;
    addresses.fill(next);
    warp.block().observer->local(
        {AccessKind::write, static_cast<std::uint32_t>(part), mask, &addresses, warp.index(), &step.at});
    next += part;
  }
}

}  // namespace cudal1::vgpu
