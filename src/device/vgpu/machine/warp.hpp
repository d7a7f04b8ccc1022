// 32 threads in lock-step. Lanes that went different ways wait for each other: those with the smallest program counter
// go first, and lanes that meet go on together.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "device/vgpu/machine/fault.hpp"
#include "device/vgpu/machine/memory.hpp"
#include "device/vgpu/machine/step.hpp"

namespace cudal1::vgpu {

//! What the warps of a block share.
struct BlockState {
  const Kernel* kernel = nullptr;
  const GlobalMemory* global = nullptr;
  std::vector<std::byte> shared;
  Index3 grid{1, 1, 1}, block{1, 1, 1};  //!< sizes
  Index3 index{0, 0, 0};                 //!< which block
  std::uint64_t instructions_left = 0;   //!< of warps, in this block
};

class Warp {
 public:
  Warp(BlockState& block, std::uint32_t first_thread);

  //! Goes on until all lanes wait or have ended. Throws KernelFault.
  void run();
  bool ended() const { return groups_.empty(); }

  //! Threads that wait at a barrier.
  int waiting_at(int barrier) const;
  void release(int barrier);
  int live_threads() const;

  Registers& registers() { return registers_; }
  BlockState& block() { return block_; }

  //! Where `bytes` bytes at this address lie on the host. Throws KernelFault.
  std::byte* global(std::uint64_t address, std::uint64_t bytes, bool write, int lane, const Step& step);
  std::byte* shared(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step);
  std::byte* local(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step);
  std::byte* generic(std::uint64_t address, std::uint64_t bytes, bool write, int lane, const Step& step);

  //! All that have not ended wait for something that will not happen.
  [[noreturn]] void fail_waiting() const;
  [[noreturn]] void fail(FaultKind kind, const std::string& message, int lane, const Step& step) const;

 private:
  struct Group {
    std::uint32_t pc = 0;
    Mask mask = 0;
    std::optional<int> barrier;
  };
  void set_special_registers(std::uint32_t first_thread);
  Index3 thread_at(int lane) const;
  std::size_t next_group();
  std::uint32_t other_pc(std::size_t running) const;
  void run_group(std::size_t index);
  bool step_once(Group& group);
  void branch(Group& group, Mask taken, std::uint32_t target);
  void wait(Group& group, Mask mask, int barrier);
  void check_alignment(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step) const;

  BlockState& block_;
  std::uint32_t first_thread_;
  Registers registers_;
  std::vector<std::byte> local_;
  std::vector<Group> groups_;
};

}  // namespace cudal1::vgpu
