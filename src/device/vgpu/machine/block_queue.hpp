// Which blocks of a launch are next, for all threads of the host that run them.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "device/vgpu/machine/grid.hpp"

namespace cudal1::vgpu {

//! Every thread has a part of the grid for itself, and takes from the others' when it has done it. A transposition runs
//! faster so on two threads than with neighbouring blocks on both; why was not looked into (neighbours write to
//! neighbouring lines).
class BlockQueue {
 public:
  explicit BlockQueue(const Launch& launch);

  //! Of blocks to run.
  std::uint64_t count() const { return count_; }
  //! Before any of them asks for places. A single one gets them in order.
  void share_among(std::uint64_t threads);

  //! What one thread has taken, several at a time.
  struct Places {
    std::uint64_t next = 0, end = 0;
  };
  //! The next of these places, or of those that it takes then; none when there is nothing left to do.
  std::optional<std::uint64_t> next(std::size_t thread, Places& taken);

  //! Some two dozen blocks all over the grid, whichever thread runs them.
  bool is_watched(std::uint64_t place) const { return place % (count_ / 24 + 1) == 0; }
  Index3 block_at(std::uint64_t place) const;

  //! Blocks before it still run: one of them may fail too, and the first is reported.
  void fail(std::uint64_t place, std::exception_ptr failure);
  //! So many instructions more, up to this place.
  void finish(std::uint64_t place, std::uint64_t instructions);
  void rethrow() const;

 private:
  static constexpr std::size_t cache_line = 64;

  struct alignas(cache_line) Part {
    std::mutex mutex;
    Places left;
  };
  Places take(Part& part);
  bool take_over(Part& own);

  const Launch& launch_;
  std::vector<std::uint64_t> sample_;
  std::uint64_t count_;
  std::deque<Part> parts_;  // by thread
  // Each in a line of its own: all threads look at `stop_` all the time, and it hardly ever changes.
  alignas(cache_line) std::atomic<std::uint64_t> instructions_ = 0;
  alignas(cache_line) std::atomic<std::uint64_t> stop_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace cudal1::vgpu
