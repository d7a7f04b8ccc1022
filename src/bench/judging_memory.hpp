// The device's memory while programs are judged: a part for small ones, the rest for large ones and compilers.
#pragma once

#include <algorithm>
#include <atomic>

#include "bench/device_memory.hpp"
#include "bench/memory_need.hpp"

namespace cudal1 {

class JudgingMemory {
 public:
  //! `total`: that judges and compilers may use together; judges need some of it before they judge anything.
  JudgingMemory(std::uint64_t total, int judges)
      : large(part(total, judges, 4)),
        small(part(total, judges, 1)),
        compiling_(large.total_bytes() / 8, &large),
        compiling_beside_huge_(compiling_.total_bytes(), &small),
        total_(total) {}

  std::uint64_t total_bytes() const { return total_; }
  bool is_small(std::uint64_t judge_bytes) const { return judge_bytes <= large.total_bytes() / 16; }
  //! No other of that kind fits beside it.
  bool is_huge(std::uint64_t judge_bytes) const { return judge_bytes > large.total_bytes() / 8 * 5; }
  bool may_compile(std::uint64_t worker_bytes) const { return worker_bytes <= compiling_.total_bytes() / 2; }
  DeviceMemory& for_judge(std::uint64_t bytes) { return is_small(bytes) ? small : large; }
  //! Huge programs leave nothing of what is for large ones; small ones are not judged before them.
  DeviceMemory& for_compiler() { return huge_are_judged_ ? compiling_ : compiling_beside_huge_; }
  void huge_are_judged() { huge_are_judged_ = true; }

  DeviceMemory large, small;

 private:
  //! So many fifths; of what nobody knows the size of, all of it.
  static std::uint64_t part(std::uint64_t total, int judges, std::uint64_t fifths) {
    if (total >= DeviceMemory::unlimited / 2) return DeviceMemory::unlimited;
    return (total - std::min(total / 2, judges * idle_judge_bytes)) / 5 * fifths;
  }

  DeviceMemory compiling_, compiling_beside_huge_;
  std::atomic<bool> huge_are_judged_ = false;
  std::uint64_t total_;
};

}  // namespace cudal1
