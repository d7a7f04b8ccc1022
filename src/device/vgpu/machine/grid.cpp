#include "device/vgpu/machine/grid.hpp"

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>

#include "device/vgpu/machine/block.hpp"
#include "device/vgpu/machine/block_queue.hpp"
#include "device/vgpu/machine/host_threads.hpp"
#include "device/vgpu/machine/standstill.hpp"

namespace cudal1::vgpu {
namespace {

//! What one thread of the host needs to run blocks. In lines of its own: what one writes, the other would wait for.
class alignas(128) Worker {
 public:
  Worker(const Launch& launch, const GlobalMemory& memory, BlockQueue& queue, std::size_t number)
      : launch_(launch),
        memory_(memory),
        queue_(queue),
        number_(number),
        standstill_(memory, !launch.kernel->blocks_may_meet) {}

  //! Blocks that nobody waits for, one after the other. Behind one that failed it has none left that must run.
  void run_apart() {
    prepare();
    Place& place = add_place();
    while (!queue_failed_ && begin_next(place)) {
      standstill_.forget();
      while (!queue_failed_ && !place.block->ended() && advance(place)) end_turn();
    }
  }

  //! All blocks, in order. One that waits for others lets the next go on, up to so many at a time.
  void run_in_turns(std::uint64_t resident) {
    prepare();
    bool busy = true;
    for (std::size_t turn = 0; busy; turn = 0) {
      busy = false;
      for (; turn < resident; ++turn) {
        if (turn == places_.size() && (!more_ || !begin_next(add_place()))) break;
        Place& place = places_[turn];
        while ((!place.block->ended() || begin_next(place)) && advance(place) && place.block->ended()) {
        }
        busy = busy || !place.block->ended();
        if (queue_failed_) return;
      }
      if (!more_) std::erase_if(places_, [](const Place& place) { return place.block->ended(); });
      end_turn();
      if (queue_failed_) return;
    }
  }

  Tally* tally() { return tally_ ? &*tally_ : nullptr; }

 private:
  struct Place {
    std::unique_ptr<Block> block;
    std::uint64_t number = 0;
  };

  //! On the thread that runs the blocks: its memory is then near it, and others need not wait.
  void prepare() {
    patterns_.resize(pattern_ways * launch_.kernel->patterns);
    if (launch_.counting) tally_.emplace(*launch_.kernel, memory_);
  }

  Place& add_place() {
    auto block = std::make_unique<Block>(launch_, memory_, patterns_.data(), tally_ ? &*tally_ : nullptr);
    return places_.emplace_back(Place{std::move(block)});
  }

  bool begin_next(Place& place) {
    const auto next = more_ ? queue_.next(number_, taken_) : std::nullopt;
    more_ = next.has_value();
    if (!next) return false;
    ++begun_;
    place.number = *next;
    if (tally_) tally_->begin_block(queue_.is_watched(*next));
    place.block->begin(queue_.block_at(*next));
    return true;
  }

  //! False when it failed.
  bool advance(Place& place) try {
    place.block->advance();
    if (place.block->ended()) finish(place);
    return true;
  } catch (...) {
    queue_.fail(place.number, std::current_exception());
    queue_failed_ = true;
    return false;
  }

  //! All blocks that have begun have gone on until they ended or only waited.
  void end_turn() {
    waiting_.clear();
    const Place* first = nullptr;
    for (const Place& place : places_) {
      if (place.block->ended()) continue;
      if (!first) first = &place;
      waiting_.push_back(place.block.get());
    }
    if (first) fail_where_they_stand_still(*first);
  }

  void fail_where_they_stand_still(const Place& first) try {
    standstill_.end_turn(waiting_, launch_.kernel->blocks_may_meet ? queue_.count() - begun_ : 0);
  } catch (...) {
    queue_.fail(first.number, std::current_exception());
    queue_failed_ = true;
  }

  //! Tells the others now and then, not after every block: a sixteenth of what is allowed may go unnoticed.
  void finish(const Place& place) {
    instructions_ += place.block->instructions();
    if (instructions_ >= std::min<std::uint64_t>(1 << 14, launch_.most_instructions / 16))
      queue_.finish(place.number, std::exchange(instructions_, 0));
  }

  const Launch& launch_;
  const GlobalMemory& memory_;
  BlockQueue& queue_;
  std::size_t number_;  // among the threads
  BlockQueue::Places taken_;
  std::uint64_t instructions_ = 0;
  std::vector<AccessPattern> patterns_;
  std::optional<Tally> tally_;
  std::deque<Place> places_;
  Standstill standstill_;
  std::vector<Block*> waiting_;
  std::uint64_t begun_ = 0;
  bool more_ = true;  // blocks may be left that nobody has begun
  bool queue_failed_ = false;
};

std::uint64_t threads_of(const Launch& launch) {
  return std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
}

//! As many as a large GPU holds, as far as a gigabyte goes.
std::uint64_t resident_blocks(const Launch& launch) {
  constexpr std::uint64_t multiprocessors = 132, threads_each = 2048, blocks_each = 32, shared_each = 228 << 10;
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  if (launch.resident_blocks > 0) return launch.resident_blocks;
  const std::uint64_t shared = launch.kernel->static_shared_bytes + launch.dynamic_shared_bytes;
  const std::uint64_t warps = (threads_of(launch) + warp_size - 1) / warp_size;
  const std::uint64_t bytes =
      shared + warps * (launch.kernel->registers->bytes() + warp_size * launch.kernel->local_bytes + sizeof(Warp));
  const std::uint64_t each =
      std::min({blocks_each, threads_each / threads_of(launch), shared == 0 ? blocks_each : shared_each / shared});
  return std::clamp<std::uint64_t>(most_bytes / bytes, 1, multiprocessors * std::max<std::uint64_t>(each, 1));
}

std::uint64_t host_threads(const Launch& launch, std::uint64_t blocks) {
  if (launch.kernel->blocks_may_meet) return 1;
  const std::uint64_t wanted = launch.threads > 0 ? launch.threads : std::max(1u, std::thread::hardware_concurrency());
  return std::clamp<std::uint64_t>(blocks, 1, wanted);
}

KernelCounters sum_of(std::deque<Worker>& workers) {
  if (!workers.front().tally()) return {};
  Tally& sum = *workers.front().tally();
  for (std::size_t i = 1; i < workers.size(); ++i) sum.take(*workers[i].tally());
  return sum.counters();
}

}  // namespace

KernelCounters run_grid(const Launch& launch, const GlobalMemory& memory) {
  GlobalMemory with_parameters = memory;
  // The kernel only reads them.
  auto* parameters = const_cast<std::byte*>(launch.parameters.data());
  with_parameters.add({parameter_window, launch.parameters.size(), parameters, "the kernel's parameters", false});
  BlockQueue queue(launch);
  const std::uint64_t count = host_threads(launch, queue.count());
  queue.share_among(count);
  std::deque<Worker> workers;
  for (std::uint64_t i = 0; i < count; ++i) workers.emplace_back(launch, with_parameters, queue, i);
  if (launch.kernel->blocks_may_meet) {
    workers.front().run_in_turns(resident_blocks(launch));
  } else {
    run_on_host_threads(workers.size(), [&](std::size_t i) { workers[i].run_apart(); });
  }
  queue.rethrow();
  KernelCounters counters = sum_of(workers);
  counters.grid_blocks = count_of<std::uint64_t>(launch.grid);
  counters.blocks = queue.count();
  return counters;
}

}  // namespace cudal1::vgpu
