#include "device/vgpu/machine/system_calls.hpp"

#include <fmt/format.h>

#include <cstring>

#include "device/vgpu/machine/print_format.hpp"
#include "device/vgpu/machine/warp.hpp"

namespace cudal1::vgpu {
namespace {

constexpr std::size_t longest_text = 4096;

//! One lane in a call: its arguments, and the memory that they point to.
class Caller {
 public:
  Caller(Warp& warp, const Step& step, int lane) : warp_(warp), step_(step), lane_(lane) {}

  template <class T>
  T argument(std::size_t i) {
    T value;
    std::memcpy(&value, warp_.local(step_.operation.operands.at(i), sizeof value, lane_, step_), sizeof value);
    return value;
  }

  void give(std::int32_t result) {
    std::memcpy(warp_.local(step_.operation.result, sizeof result, lane_, step_), &result, sizeof result);
  }

  std::uint64_t number_at(std::uint64_t address, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, warp_.generic(address, bytes, false, lane_, step_), bytes);
    return value;
  }

  std::string text_at(std::uint64_t address) {
    if (address == 0) return "(null)";
    std::string text;
    for (char c = 0; text.size() < longest_text; text += c) {
      c = static_cast<char>(number_at(address + text.size(), 1));
      if (c == '\0') break;
    }
    return text;
  }

 private:
  Warp& warp_;
  const Step& step_;
  int lane_;
};

//! int vprintf(const char* format, void* arguments): the arguments lie behind each other, each at a multiple of its
//! size. Gives how many there were.
void print_lane(Warp& warp, const Step& step, int lane) {
  Caller caller(warp, step, lane);
  const auto format = caller.argument<std::uint64_t>(0);
  if (format == 0) return caller.give(-1);
  auto next = caller.argument<std::uint64_t>(1);
  const PrintArguments arguments{[&](std::size_t bytes) {
                                   next = (next + bytes - 1) / bytes * bytes;
                                   const std::uint64_t value = caller.number_at(next, bytes);
                                   next += bytes;
                                   return value;
                                 },
                                 [&](std::uint64_t address) { return caller.text_at(address); }};
  const Printed printed = print_format(caller.text_at(format), arguments);
  if (warp.block().printed) warp.block().printed->add(printed.text);
  caller.give(printed.arguments);
}

void print(Warp& warp, const Step& step, Mask mask) {
  for_each_lane(mask, [&](int lane) { print_lane(warp, step, lane); });
  show_filled(warp, step, mask, step.operation.result, sizeof(std::int32_t));
}

//! void __assertfail(const char* message, const char* file, unsigned line, const char* function, size_t)
void fail_assertion(Warp& warp, const Step& step, Mask mask) {
  const int lane = std::countr_zero(mask);
  Caller caller(warp, step, lane);
  const std::string message = caller.text_at(caller.argument<std::uint64_t>(0)),
                    file = caller.text_at(caller.argument<std::uint64_t>(1)),
                    function = caller.text_at(caller.argument<std::uint64_t>(3));
  const auto line = caller.argument<std::uint32_t>(2);
  warp.fail(FaultKind::assertion, fmt::format("'{}' does not hold in {}, {}:{}", message, function, file, line), lane,
            step);
}

}  // namespace

const SystemFunction* find_system_function(std::string_view name) {
  static const SystemFunction vprintf{&print, 2, 1, true}, assertfail{&fail_assertion, 5, 0, false};
  if (name == "vprintf") return &vprintf;
  return name == "__assertfail" ? &assertfail : nullptr;
}

}  // namespace cudal1::vgpu
