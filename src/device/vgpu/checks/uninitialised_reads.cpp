#include "device/vgpu/checks/uninitialised_reads.hpp"

#include <fmt/format.h>

#include "device/vgpu/checks/access_shape.hpp"

namespace cudal1::vgpu {
namespace {

constexpr std::uint64_t whole_range_bytes = 1024;  // that is looked at as a whole

std::uint64_t whole_words(std::uint64_t bytes) {
  return (bytes + bytes_per_mark_word - 1) / bytes_per_mark_word * bytes_per_mark_word;
}

//! Of an atomic every byte counts: nobody keeps padding there.
std::uint64_t unwritten(const WarpAccess& access, std::uint64_t address, std::uint64_t missing) {
  if (missing == 0 || access.kind == AccessKind::atomic) return missing;
  return bare_elements(missing, address, access.bytes, access.element_bytes);
}

//! The first byte that is missing.
std::uint64_t first_of(std::uint64_t missing, std::uint64_t address) {
  return address / bytes_per_mark_word * bytes_per_mark_word + static_cast<std::uint64_t>(std::countr_zero(missing));
}

}  // namespace

UninitialisedReads::UninitialisedReads(const BlockPlace& block)
    : block_(block),
      local_stride_(whole_words(block.launch->local_bytes)),
      shared_(block.launch->shared_bytes),
      local_(local_stride_ * block.threads()) {}

void UninitialisedReads::fail(const WarpAccess& access, int lane, const std::string& where, const char* advice) const {
  report(FaultKind::uninitialised_read,
         fmt::format("{} {}, where nothing was written{}", verb_of(access.kind), where, advice), block_, access, lane);
}

void UninitialisedReads::shared(const WarpAccess& access) {
  if (shared_.complete() || shared_together(access)) return;
  std::uint64_t last = ~std::uint64_t{0};  // lanes that touch one place do so once
  for_each_lane(access.mask, [&](int lane) {
    const std::uint64_t address = (*access.addresses)[static_cast<std::size_t>(lane)];
    if (address != last) shared_lane(access, lane);
    last = address;
  });
}

//! Lanes that lie together, at once. False, and nothing has happened, where they do not or something is missing.
bool UninitialisedReads::shared_together(const WarpAccess& access) {
  if (access.kind == AccessKind::read) return reads_what_was_written(access);
  const LaneShape shape = shape_of(access);
  if (shape == LaneShape::scattered || access.kind == AccessKind::atomic) return false;
  for_each_part(access, shape, [&](std::uint64_t address, std::uint64_t bytes) { shared_.set_range(address, bytes); });
  return true;
}

bool UninitialisedReads::reads_what_was_written(const WarpAccess& access) const {
  if (const LaneShape shape = access.shape.value_or(LaneShape::scattered); shape != LaneShape::scattered) {
    bool all = true;
    for_each_part(access, shape,
                  [&](std::uint64_t address, std::uint64_t bytes) { all = all && shared_.has_range(address, bytes); });
    return all;
  }
  // Lanes apart mostly read from a part of memory that is all written.
  if (const AddressRange range = range_of(access);
      range.end - range.begin <= whole_range_bytes && shared_.has_range(range.begin, range.end - range.begin))
    return true;
  std::uint64_t missing = 0, last = ~std::uint64_t{0};
  for (Mask rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = (*access.addresses)[static_cast<std::size_t>(std::countr_zero(rest))];
    if (address != last) missing |= shared_.missing(address, access.bytes);
    last = address;
  }
  return missing == 0;
}

void UninitialisedReads::shared_lane(const WarpAccess& access, int lane) {
  const std::uint64_t address = (*access.addresses)[static_cast<std::size_t>(lane)];
  if (access.kind != AccessKind::write)
    if (const std::uint64_t missing = unwritten(access, address, shared_.missing(address, access.bytes)))
      fail(access, lane, block_.describe_shared(first_of(missing, address)),
           "; if another thread writes there, a barrier is missing before the read");
  if (access.kind != AccessKind::read) shared_.set(address, access.bytes);
}

void UninitialisedReads::local(const WarpAccess& access) {
  for_each_lane(access.mask, [&](int lane) { local_lane(access, lane); });
}

void UninitialisedReads::local_lane(const WarpAccess& access, int lane) {
  const std::uint64_t thread = access.warp * warp_size + static_cast<std::uint64_t>(lane);
  const std::uint64_t own = thread * local_stride_;
  const std::uint64_t address = own + (*access.addresses)[static_cast<std::size_t>(lane)];
  if (access.kind != AccessKind::write)
    if (const std::uint64_t missing = unwritten(access, address, local_.missing(address, access.bytes)))
      fail(access, lane, fmt::format("byte {} of its local memory", first_of(missing, address) - own));
  if (access.kind != AccessKind::read) local_.set(address, access.bytes);
}

void UninitialisedReads::global(const WarpAccess& access) {
  if (!block_.launch->scratch || block_.launch->scratch->empty()) return;
  const AddressRange range = range_of(access);
  if (!block_.launch->scratch->may_miss(range.begin, range.end)) return;
  if (access.kind == AccessKind::write && shape_of(access) == LaneShape::consecutive)
    if (ScratchMarks::Range* one = range_at(range.begin); one && one->holds(range.end - 1))
      return one->set_range(range.begin, range.end - range.begin);
  for_each_lane(access.mask, [&](int lane) { global_lane(access, lane); });
}

ScratchMarks::Range* UninitialisedReads::range_at(std::uint64_t address) {
  if (!last_range_ || !last_range_->holds(address)) last_range_ = block_.launch->scratch->find(address);
  return last_range_;
}

void UninitialisedReads::global_lane(const WarpAccess& access, int lane) {
  const std::uint64_t address = (*access.addresses)[static_cast<std::size_t>(lane)];
  ScratchMarks::Range* range = range_at(address);
  if (!range || range->complete()) return;
  if (access.kind != AccessKind::write)
    if (const std::uint64_t missing = unwritten(access, address, range->missing(address, access.bytes)))
      fail(access, lane, block_.launch->memory->describe(first_of(missing, address)));
  if (access.kind != AccessKind::read) range->set(address, access.bytes);
}

}  // namespace cudal1::vgpu
