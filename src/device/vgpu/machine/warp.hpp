// 32 threads in lock-step. Lanes that went different ways wait for each other: those with the smallest program counter
// go first, and lanes that meet go on together. Lanes that go round a loop for long let the others go on.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "device/vgpu/machine/access_observer.hpp"
#include "device/vgpu/machine/access_pattern.hpp"
#include "device/vgpu/machine/async_copy.hpp"
#include "device/vgpu/machine/barriers.hpp"
#include "device/vgpu/machine/call_stack.hpp"
#include "device/vgpu/machine/fault.hpp"
#include "device/vgpu/machine/memory.hpp"
#include "device/vgpu/machine/printed_text.hpp"
#include "device/vgpu/machine/step.hpp"
#include "device/vgpu/machine/tally.hpp"

namespace cudal1::vgpu {

class Warp;

//! What the warps of a block share.
struct BlockState {
  const Kernel* kernel = nullptr;
  const GlobalMemory* global = nullptr;
  std::vector<std::byte> shared;
  std::vector<SharedArrays::Bounds> shared_bounds;  //!< by Step::array
  Index3 grid{1, 1, 1}, block{1, 1, 1};             //!< sizes
  Index3 index{0, 0, 0};                            //!< which block
  std::uint64_t instructions_left = 0;              //!< of warps, in this block

  std::span<Warp> warps;
  Barriers barriers;
  AccessPattern* patterns = nullptr;  //!< pattern_ways for each that the kernel names
  Tally* tally = nullptr;             //!< null: nothing is counted
  AccessObserver* observer = nullptr;
  PrintedText* printed = nullptr;  //!< null: nobody reads it
};

//! Where the lanes of one access lie on the host.
struct Reach {
  std::byte* first = nullptr;              //!< where the first lane's bytes lie; null: places has every lane's
  const AccessPattern* pattern = nullptr;  //!< from there, where the others lie
  std::byte* const* places = nullptr;

  std::byte* at(int lane) const {
    return first ? first + pattern->deltas[static_cast<std::size_t>(lane)] : places[lane];
  }
};

enum class WarpState : std::uint8_t { ended, waiting, spinning };

class alignas(64) Warp {
 public:
  Warp(BlockState& block, std::uint32_t first_thread);

  //! For the block that BlockState::index names.
  void begin();
  //! Goes on until all lanes wait, have ended, or have gone round loops long enough to let others go on. Throws
  //! KernelFault.
  WarpState run();
  bool ended() const { return live_ == 0; }
  bool can_run() const { return group_count_ == 1 ? groups_[0].wait == Wait::nothing : any_group_can_run(); }
  Mask live() const { return live_; }
  std::uint32_t index() const { return first_thread_ / warp_size; }

  Registers& registers() { return registers_; }
  BlockState& block() { return block_; }
  //! Instructions before this one that are not yet taken off BlockState::instructions_left.
  std::uint64_t uncounted_before(const Step& step) const {
    return static_cast<std::uint64_t>(&step - block_.kernel->steps.data()) - stretch_begin_;
  }
  AsyncCopies& async_copies() { return async_copies_; }
  CallStack& call_stack() { return call_stack_; }

  //! Where `bytes` bytes at this address lie on the host. Throws KernelFault.
  std::byte* global(std::uint64_t address, std::uint64_t bytes, bool write, int lane, const Step& step);
  void check_alignment(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step) const;  //!< of global
  std::byte* shared(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step);
  std::byte* local(std::uint64_t address, std::uint64_t bytes, int lane, const Step& step);
  std::byte* generic(std::uint64_t address, std::uint64_t bytes, bool write, int lane, const Step& step);

  //! The same for a whole access, whose address is the step's first operand plus its offset: checked, counted and
  //! shown to the observer. Good until the next call. Throws KernelFault. Defined in reach.hpp.
  Reach reach(const Step& step, Mask mask, std::uint32_t bytes, AccessKind kind);
  //! The same for all lanes, where the addresses are as before but for the first; else nowhere.
  Reach reach_again(const Step& step, std::uint32_t bytes, AccessKind kind);
  Reach reach_shared_again(const Step& step, std::uint32_t bytes);
  Reach reach_global_again(const Step& step, std::uint32_t bytes, AccessKind kind);
  //! Whether these are worth a try.
  bool counts() const { return block_.tally != nullptr; }

  // Counts an access and shows it to the observer, for instructions that find their places themselves.
  void account_global(const WarpAccess& access);
  void account_shared(const WarpAccess& access);
  void account_local(const WarpAccess& access);

  //! Lanes with this value in a register of 32 bits.
  Mask lanes_with(Slot slot, std::uint32_t value);

  //! Everything that says what it does next.
  void add_to(Fingerprint& state);

  //! All that have not ended wait for something that will not happen.
  [[noreturn]] void fail_waiting() const;
  //! It goes round a loop for ever.
  [[noreturn]] void fail_endless() const;
  [[noreturn]] void fail(FaultKind kind, const std::string& message, int lane, const Step& step,
                         std::optional<std::uint64_t> address = std::nullopt) const;

 private:
  enum class Wait : std::uint8_t { nothing, barrier, lanes, warp_barrier };
  struct Group {
    std::uint32_t pc = 0;  // behind a barrier that it waits at
    Mask mask = 0;
    Wait wait = Wait::nothing;
    std::uint32_t barrier = 0;  // of Wait::barrier
    Mask members = 0;           // of the other two
    int fuel = 0;
  };
  std::span<Group> groups() { return {groups_.data(), group_count_}; }
  std::span<const Group> groups() const { return {groups_.data(), group_count_}; }
  Group& add_group(const Group& group) { return groups_[group_count_++] = group; }

  void set_special_registers();
  void set_parameters();
  Index3 thread_at(int lane) const;

  // Which lanes go on
  bool any_group_can_run() const;
  bool is_whole() const { return group_count_ == 1 && groups_[0].mask == full_mask; }
  Group* next_group();
  void remove_empty_groups();
  void end_waits_for_lanes();
  Mask waiting_like(const Group& group) const;
  void unite_groups();
  std::uint32_t next_meeting(const Group& running) const;

  // What they do
  void run_group(Group& group);
  void go_on(Group& group, std::uint32_t pc, std::uint32_t limit, bool whole);
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};  // in place of a step
  std::uint32_t run_whole(Group& group, std::uint32_t pc);
  bool meet_at_barrier(Group& group, const Step& step);
  template <int vector>
  void load_shared(const Step& step, std::uint32_t ready_bytes);
  const Step* branch_together(Group& group, const Step& step);
  bool control(Group& group, const Step& step, Mask mask);
  bool branch(Group& group, const Step& step, Mask taken);
  bool go_back(Group& group, const Step& step);
  bool gather(Group& group, const Step& step, Mask mask);
  void part_at_gather(Group& group, const Step& step, Mask incomplete);
  void wait_for_lanes(Group& group, const Step& step, Mask mask, std::uint32_t pc, Wait wait);
  bool exit(Group& group, Mask mask);
  bool come_to_barrier(Group& group, const Step& step, Mask mask);
  void come_to_barriers(Group& group, const Step& step, Mask mask);
  //! The whole group, to a barrier that barrier_is_fixed.
  void come_together(Group& group, const Step& step, Mask mask) {
    end_stretch(++group.pc, mask);
    group.wait = Wait::barrier;
    group.barrier = registers_.words<std::uint32_t>(step.operation.operands[0])[0];
    if (!block_.barriers.arrive_whole(index(), group.barrier, mask, group.pc - 1))
      arrive(step, group.barrier, 0, mask);
    else if (block_.barriers.is_complete(group.barrier))
      open_barriers();
  }
  void wait(Group& group, Mask mask, Group waiting);
  void arrive(const Step& step, std::uint32_t barrier, std::uint32_t threads, Mask mask);
  // In divergent_barriers.cpp. Throw KernelFault.
  void check_place(const Step& step, std::uint32_t barrier, std::uint32_t threads, Mask mask) const;
  void check_place_against(const Warp& other, const Step& step, std::uint32_t barrier, int lane) const;
  void open_barriers();
  void release(std::uint32_t barrier);
  void write_barrier_result(const Step& step, std::uint32_t barrier, Mask mask);
  void check_members(const Step& step, Mask lanes, Mask members) const;
  [[noreturn]] void fail_incomplete(const Step& step, Mask lanes) const;

  // What is counted
  void begin_stretch(std::uint32_t pc, Mask lanes) {
    stretch_begin_ = pc;
    if (block_.tally) block_.tally->enter(pc, lanes);
  }
  //! `end` is behind the last step.
  void end_stretch(std::uint32_t end, Mask lanes) {
    if (block_.tally) block_.tally->leave(end, lanes);
    const std::uint64_t steps = end - stretch_begin_;
    if (steps > block_.instructions_left) fail_endless(end, lanes);
    block_.instructions_left -= steps;
  }
  [[noreturn]] void fail_endless(std::uint32_t end, Mask lanes) const;

  // Memory
  std::byte* global_range(AccessPattern& pattern, std::uint64_t first, AccessKind kind, const Step& step);
  std::byte* shared_range(AccessPattern& pattern, std::uint64_t first, AccessKind kind, const Step& step);
  bool find_segment(AccessPattern& pattern, std::uint64_t lowest, std::uint64_t bytes) const;
  Reach reach_lanes(const Step& step, Mask mask, std::uint32_t bytes, AccessKind kind);
  void account_lanes(const Step& step, std::array<std::uint64_t, warp_size>& addresses, WarpAccess access);
  void show(const AccessPattern& pattern, std::uint64_t first, AccessKind kind, const Step& step,
            void (AccessObserver::*to)(const WarpAccess&));
  WarpAccess described(AccessKind kind, std::uint32_t bytes, Mask mask,
                       const std::array<std::uint64_t, warp_size>& addresses, const Step& step);

  // What is looked at whenever warps take turns comes first, in a line of the cache or two.
  BlockState& block_;
  std::uint32_t first_thread_;
  Mask live_ = 0;
  Registers registers_;
  std::uint32_t stretch_begin_ = 0;
  std::uint32_t group_count_ = 0;
  std::array<Group, 2 * warp_size> groups_;  // more than there can be
  AsyncCopies async_copies_;
  CallStack call_stack_;
  std::vector<std::byte> local_;
  std::array<std::byte*, warp_size> places_{};
};

}  // namespace cudal1::vgpu
