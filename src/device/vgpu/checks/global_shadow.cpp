#include "device/vgpu/checks/global_shadow.hpp"

namespace cudal1::vgpu {

HistoryTable::HistoryTable() : chunks_(std::make_unique<std::atomic<WordHistory*>[]>(most_chunks)) { add({}); }

HistoryTable::~HistoryTable() {
  for (std::uint32_t i = 0; i < most_chunks; ++i) delete[] chunks_[i].load();
}

std::uint32_t HistoryTable::add(const WordHistory& history) {
  const std::scoped_lock lock(mutex_);
  const std::uint32_t number = size_;
  if (number / chunk_size >= most_chunks) return 0;  // full: from here on words are forgotten
  ++size_;
  std::atomic<WordHistory*>& chunk = chunks_[number / chunk_size];
  if (!chunk) chunk = new WordHistory[chunk_size];
  chunk[number % chunk_size] = history;
  return number;
}

void ShadowPage::split(std::uint32_t smaller_piece_bytes) {
  const std::size_t parts = piece_bytes / smaller_piece_bytes;
  std::vector<std::uint32_t> finer;
  finer.reserve(numbers.size() * parts);
  for (const std::uint32_t number : numbers) finer.insert(finer.end(), parts, number);
  numbers = std::move(finer);
  piece_bytes = smaller_piece_bytes;
}

ShadowPage& GlobalShadow::page(std::uint64_t page_number) {
  Shard& shard = shards_[page_number % shards_.size()];
  const std::scoped_lock lock(shard.mutex);
  std::unique_ptr<ShadowPage>& page = shard.pages[page_number];
  if (!page) page = std::make_unique<ShadowPage>();
  return *page;
}

}  // namespace cudal1::vgpu
