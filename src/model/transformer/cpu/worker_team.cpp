#include "model/transformer/cpu/worker_team.hpp"

namespace cudal1 {
namespace {

//! The next task usually comes within microseconds; past that a thread sleeps and leaves the core to others.
constexpr int looks_before_sleep = 4000;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

WorkerTeam::WorkerTeam(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work_until_stopped(); });
}

WorkerTeam::~WorkerTeam() {
  stopping_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerTeam::run(std::uint32_t pieces, const std::function<void(std::uint32_t)>& work) {
  if (pieces == 0) return;
  if (pieces == 1 || workers_.empty()) {
    for (std::uint32_t piece = 0; piece < pieces; ++piece) work(piece);
    return;
  }
  work_ = &work;
  unfinished_.store(pieces, std::memory_order_relaxed);
  ticket_.store(static_cast<std::uint64_t>(pieces) << 32U, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  take_pieces();
  for (int looks = 0; unfinished_.load(std::memory_order_acquire) != 0; ++looks)
    if (looks < looks_before_sleep)
      pause_briefly();
    else
      std::this_thread::yield();  // whoever holds the last piece may want this core
}

void WorkerTeam::take_pieces() {
  while (true) {
    const std::uint64_t ticket = ticket_.fetch_add(1, std::memory_order_acq_rel);
    const auto piece = static_cast<std::uint32_t>(ticket), pieces = static_cast<std::uint32_t>(ticket >> 32U);
    if (piece >= pieces) return;
    (*work_)(piece);
    unfinished_.fetch_sub(1, std::memory_order_acq_rel);
  }
}

void WorkerTeam::work_until_stopped() {
  std::uint32_t seen = 0;
  while (true) {
    for (int looks = 0; generation_.load(std::memory_order_acquire) == seen && looks < looks_before_sleep; ++looks)
      pause_briefly();
    generation_.wait(seen, std::memory_order_acquire);
    if (stopping_.load()) return;
    seen = generation_.load(std::memory_order_acquire);
    take_pieces();
  }
}

}  // namespace cudal1
