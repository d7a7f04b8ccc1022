#include "bench/device_memory.hpp"

#include <algorithm>
#include <utility>

#include "device/cuda/driver.hpp"

namespace cudal1 {
namespace {

constexpr std::uint64_t reserve_bytes = std::uint64_t{2} << 30;  // estimates are off by some, and others come and go

}  // namespace

DeviceMemory::Share::Share(Share&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      is_kept_(other.is_kept_) {}

DeviceMemory::Share& DeviceMemory::Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  memory_ = std::exchange(other.memory_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  is_kept_ = other.is_kept_;
  return *this;
}

void DeviceMemory::Share::give_back() {
  if (!memory_) return;
  const std::lock_guard lock(memory_->mutex_);
  (is_kept_ ? memory_->kept_ : memory_->taken_) -= bytes_;
  memory_ = nullptr;
  bytes_ = 0;
}

DeviceMemory::Announcement::Announcement(Announcement&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}

DeviceMemory::Announcement& DeviceMemory::Announcement::operator=(Announcement&& other) noexcept {
  if (this == &other) return *this;
  withdraw();
  memory_ = std::exchange(other.memory_, nullptr);
  bytes_ = other.bytes_;
  return *this;
}

void DeviceMemory::Announcement::withdraw() {
  if (!memory_) return;
  const std::lock_guard lock(memory_->mutex_);
  memory_->announced_.erase(memory_->announced_.find(bytes_));
  memory_ = nullptr;
}

std::optional<DeviceMemory::Share> DeviceMemory::try_take(std::uint64_t bytes) { return try_hand_out(bytes, false); }

std::optional<DeviceMemory::Share> DeviceMemory::try_keep(std::uint64_t bytes) { return try_hand_out(bytes, true); }

DeviceMemory::Announcement DeviceMemory::announce(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes = std::min(bytes, total_);
  announced_.insert(bytes);
  return {*this, bytes};
}

std::uint64_t DeviceMemory::set_aside() const { return std::max(always_for_takers(), *announced_.rbegin()); }

std::optional<DeviceMemory::Share> DeviceMemory::try_hand_out(std::uint64_t bytes, bool is_kept) {
  const std::lock_guard lock(mutex_);
  bytes = std::clamp<std::uint64_t>(bytes, 1, total_);
  if (taken_ + kept_ + bytes > total_) return std::nullopt;
  if (is_kept && !announced_.empty() && (bytes > total_ / 16 || kept_ + bytes + set_aside() > total_))
    return std::nullopt;
  (is_kept ? kept_ : taken_) += bytes;
  return Share(*this, bytes, is_kept);
}

std::uint64_t DeviceMemory::more_than(std::uint64_t bytes) const {
  if (total_ >= unlimited || is_everything(bytes)) return total_;
  return std::min(std::max(2 * bytes, total_ / 4), total_);
}

std::uint64_t device_bytes_to_share(int ordinal) {
  const std::uint64_t free = cuda::free_bytes(ordinal);
  return std::max(free, 2 * reserve_bytes) - reserve_bytes;
}

}  // namespace cudal1
