// Which blocks touched which bytes of global memory. Most words of a buffer were touched in the same way by the same
// block, so that a word holds only the number of its history, and equal histories are kept once.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/vgpu/checks/block_hand_overs.hpp"
#include "device/vgpu/machine/warp_access.hpp"

namespace cudal1::vgpu {

//! What a block did to a word.
struct BlockParty {
  const ptx::Location* at = nullptr;  //!< null: nobody
  std::uint32_t block = 0;
  AccessKind kind = AccessKind::read;
  BlockHandOvers::Moment moment;
};

struct WordHistory {
  BlockParty write;
  std::array<BlockParty, 2> users;  //!< the first two blocks that read it or changed it atomically since
};

//! Number 0 is a word that nobody touched. Numbers stay valid as long as the table.
class HistoryTable {
 public:
  HistoryTable();
  ~HistoryTable();
  std::uint32_t add(const WordHistory& history);
  const WordHistory& operator[](std::uint32_t number) const {
    return chunks_[number / chunk_size][number % chunk_size];
  }

 private:
  static constexpr std::uint32_t chunk_size = 1024, most_chunks = 1u << 16;
  std::mutex mutex_;
  std::uint32_t size_ = 0;
  std::unique_ptr<std::atomic<WordHistory*>[]> chunks_;
};

//! The histories of 4096 bytes. Who uses it holds its lock.
struct ShadowPage {
  static constexpr std::uint64_t bytes = 4096;
  static constexpr std::uint32_t largest_piece = 128;  //!< what a warp writes at once, 4 bytes a lane
  ShadowPage() : numbers(bytes / piece_bytes) {}
  void split(std::uint32_t smaller_piece_bytes);

  std::mutex lock;
  std::uint32_t piece_bytes = largest_piece;  //!< as small as the smallest access so far
  std::vector<std::uint32_t> numbers;
};

//! Pages come into being when they are touched.
class GlobalShadow {
 public:
  ShadowPage& page(std::uint64_t page_number);
  HistoryTable histories;

 private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::unique_ptr<ShadowPage>> pages;
  };
  std::array<Shard, 64> shards_;
};

}  // namespace cudal1::vgpu
