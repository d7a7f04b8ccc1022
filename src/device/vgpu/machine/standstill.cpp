#include "device/vgpu/machine/standstill.hpp"

#include <fmt/format.h>

#include <bit>

namespace cudal1::vgpu {
namespace {

std::uint64_t busy_warps(const std::vector<Block*>& blocks) {
  std::uint64_t sum = 0;
  for (const Block* block : blocks) sum += block->busy_warps();
  return sum;
}

std::uint64_t instructions(const std::vector<Block*>& blocks) {
  std::uint64_t sum = 0;
  for (const Block* block : blocks) sum += block->instructions();
  return sum;
}

}  // namespace

void Standstill::forget() {
  turns_ = 0;
  watch_.reset();
  polling_since_.reset();
}

void Standstill::end_turn(const std::vector<Block*>& blocks, std::uint64_t left) {
  ++turns_;
  if (watch_) {
    if (stands_still(blocks)) fail(FaultKind::deadlock, blocks, left);
    if (polls_for_too_long(blocks)) fail(FaultKind::too_many_instructions, blocks, left);
    end_look(blocks);
  } else if (turns_ >= first_look && std::has_single_bit(turns_)) {
    begin_look(blocks);
  }
}

void Standstill::begin_look(const std::vector<Block*>& blocks) {
  watch_.emplace(memory_);
  instructions_before_ = instructions(blocks);
  fingerprints_.clear();
  for (Block* block : blocks) {
    fingerprints_.push_back(block->fingerprint());
    block->show_to(&*watch_);
  }
}

void Standstill::end_look(const std::vector<Block*>& blocks) {
  for (Block* block : blocks) block->show_to(nullptr);
  watch_.reset();
}

bool Standstill::nothing_was_changed() const {
  return watch_->is_unchanged() && !(others_write_ && watch_->saw_global());
}

bool Standstill::stands_still(const std::vector<Block*>& blocks) const {
  if (blocks.size() != fingerprints_.size() || !nothing_was_changed()) return false;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i]->fingerprint() != fingerprints_[i]) return false;
  return true;
}

bool Standstill::only_polls(const std::vector<Block*>& blocks) const {
  const std::uint64_t now = instructions(blocks);
  return nothing_was_changed() && watch_->polling_warps() == busy_warps(blocks) && now >= instructions_before_ &&
         now - instructions_before_ <= most_instructions_a_poll * watch_->polls();
}

bool Standstill::polls_for_too_long(const std::vector<Block*>& blocks) {
  const std::uint64_t now = instructions(blocks);
  if (!only_polls(blocks) || now < polling_since_.value_or(now)) {
    polling_since_.reset();
    return false;
  }
  if (!polling_since_) polling_since_ = now;
  return now - *polling_since_ > most_polling_instructions + most_of_a_warp * busy_warps(blocks);
}

void Standstill::fail(FaultKind kind, const std::vector<Block*>& blocks, std::uint64_t left) const {
  const std::uint64_t warps = busy_warps(blocks);
  if (!watch_->first()) blocks.front()->fail_endless();
  const MemoryWatch::Place& place = *watch_->first();
  const std::string where =
      place.global ? memory_.describe(place.address) : blocks.front()->describe_shared(place.address);
  std::string message = fmt::format("what still runs ({} warp{}) only looks at memory that nobody changes any more: {}",
                                    warps, warps == 1 ? "" : "s", where);
  if (left > 0)
    message +=
        fmt::format("; {} blocks have not begun, since only {} have a place at the same time", left, blocks.size());
  throw KernelFault(kind, message, place.at, place.block, index_in(place.thread, blocks.front()->size()),
                    place.global ? std::optional(place.address) : std::nullopt);
}

}  // namespace cudal1::vgpu
