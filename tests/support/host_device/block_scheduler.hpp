// Runs the threads of a block on one host thread. A fiber runs thread after thread until one has to wait, at a
// barrier or a warp operation; that thread keeps the fiber and the next threads get another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host_device/fiber.hpp"
#include "host_device/include/cudal1_host/kernel_interface.hpp"

namespace cudal1 {

struct HostLaunch {
  const cudal1_host::Kernel* kernel = nullptr;
  void* const* arguments = nullptr;
  cudal1_host::Index3 grid{1, 1, 1};
  cudal1_host::Index3 block{1, 1, 1};
  std::size_t shared_bytes = 0;        //!< dynamic
  std::span<std::byte> static_shared;  //!< of the whole program
};

//! Blocks run one after the other. There is one scheduler in a process, for kernels call it through plain functions.
class BlockScheduler {
 public:
  static constexpr int max_threads = 1024;
  static constexpr std::size_t max_shared_bytes = 227 * 1024;
  static constexpr int fault_exit_code = 86;  //!< the device reported a fault

  static BlockScheduler& instance();
  static const cudal1_host::Services& services();

  void run(const HostLaunch& launch);

 private:
  static constexpr int lanes_per_warp = 32;
  static constexpr int max_warps = max_threads / lanes_per_warp;
  enum class Waits { nothing, barrier, warp, active_lanes, exited };

  struct Thread {
    int fiber = 0;  //!< while it waits or is ready to go on
    Waits waits = Waits::exited;
    unsigned mask = 0;
    std::uint64_t value = 0;
    int source_lane = 0;
    const void* call_site = nullptr;
    unsigned active_lanes = 0;
    cudal1_host::WarpResult warp_result{};
    cudal1_host::BarrierResult barrier_result{};
  };

  BlockScheduler();
  void run_block();
  void run_threads();
  void start_threads();
  void become(int thread);
  void switch_to_fiber(int fiber);
  void suspend();
  void make_ready(int thread);
  [[noreturn]] static void fiber_main();
  void exit_thread();

  cudal1_host::BarrierResult barrier(int predicate);
  void release_barrier_if_complete();
  cudal1_host::WarpResult warp(unsigned mask, std::uint64_t value, int source_lane);
  void release_lanes_if_complete(int warp, unsigned mask);
  unsigned lanes_at_active_mask(int warp) const;
  unsigned active_lanes(const void* call_site);
  bool release_active_lanes();
  void give_way();

  int warp_of_current() const { return current_ / lanes_per_warp; }
  Thread& lane(int warp, int lane_index) { return threads_[warp * lanes_per_warp + lane_index]; }

  std::unique_ptr<Thread[]> threads_;
  std::unique_ptr<Fiber[]> fibers_;
  std::vector<int> idle_fibers_;
  int running_fiber_ = 0;
  Fiber scheduler_;
  cudal1_host::ThreadState state_{};
  HostLaunch launch_;
  std::byte* shared_end_ = nullptr;  //!< dynamic shared memory ends here, at a page that no one may touch
  int thread_count_ = 0;
  int started_threads_ = 0;
  int live_threads_ = 0;
  int current_ = 0;
  cudal1_host::BarrierResult barrier_{};
  std::array<unsigned, max_warps> live_lanes_{};
  std::array<unsigned, max_warps> lanes_in_warp_operation_{};
  std::array<int, max_threads> ready_{};  //!< a ring
  int ready_head_ = 0;
  int ready_count_ = 0;
};

}  // namespace cudal1
