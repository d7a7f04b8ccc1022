#include "policy/remote/waiting.hpp"

#include <algorithm>
#include <thread>

namespace cudal1 {
namespace {

constexpr std::chrono::milliseconds longest_piece{100};

}  // namespace

Waiting real_waiting() {
  return {std::chrono::steady_clock::now, std::chrono::system_clock::now,
          [](std::chrono::milliseconds duration) { std::this_thread::sleep_for(duration); }};
}

bool sleep_until(std::chrono::steady_clock::time_point end, const Waiting& waiting,
                 const std::function<bool()>& cancelled) {
  while (!cancelled()) {
    const auto now = waiting.now();
    if (end <= now) return true;  // before any difference: that to TimePoint::min() overflows
    waiting.sleep(std::min(std::chrono::ceil<std::chrono::milliseconds>(end - now), longest_piece));
  }
  return false;
}

}  // namespace cudal1
