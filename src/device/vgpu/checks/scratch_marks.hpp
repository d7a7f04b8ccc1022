// Buffers in global memory that hold nothing until something is written to them.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>

#include "device/vgpu/checks/byte_marks.hpp"

namespace cudal1::vgpu {

//! Lives as long as the buffers do: what one launch writes the next may read. Blocks on several threads may set and ask
//! at the same time; that is why the bits are atomics.
class ScratchMarks {
 public:
  class Range {
   public:
    Range(std::uint64_t begin, std::uint64_t bytes);
    bool holds(std::uint64_t address) const { return address - begin_ < bytes_; }
    bool meets(std::uint64_t begin, std::uint64_t end) const { return begin < begin_ + bytes_ && begin_ < end; }
    void set(std::uint64_t address, std::uint32_t bytes);
    //! All of them in here.
    void set_range(std::uint64_t begin, std::uint64_t bytes);
    std::uint64_t missing(std::uint64_t address, std::uint32_t bytes) const;
    bool complete() const { return missing_.load(std::memory_order_relaxed) == 0; }

   private:
    void set_bits(std::uint64_t address, std::uint64_t bits);
    std::atomic<std::uint64_t>& word(std::uint64_t address) const;
    std::uint64_t begin_, bytes_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
    std::atomic<std::uint64_t> missing_;
  };

  //! Not while a launch runs. Forgets what was written there before.
  void add_uninitialised(std::uint64_t begin, std::uint64_t bytes);
  //! Written by other means than a kernel's stores.
  void set_written(std::uint64_t begin, std::uint64_t bytes);

  //! Null for memory that was always initialised.
  Range* find(std::uint64_t address);
  //! Whether anything between these addresses may still hold nothing.
  bool may_miss(std::uint64_t begin, std::uint64_t end) const;
  bool empty() const { return ranges_.empty(); }

 private:
  std::list<Range> ranges_;
};

}  // namespace cudal1::vgpu
