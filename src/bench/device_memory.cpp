#include "bench/device_memory.hpp"

#include <algorithm>
#include <utility>

#include "device/cuda/driver.hpp"

namespace cudal1 {
namespace {

constexpr std::uint64_t reserve_bytes = std::uint64_t{2} << 30;  // estimates are off by some, and others come and go

}  // namespace

DeviceMemory::Share::Share(Share&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory::Share& DeviceMemory::Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  memory_ = std::exchange(other.memory_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void DeviceMemory::Share::give_back() {
  if (memory_) memory_->put_back(bytes_);
  memory_ = nullptr;
  bytes_ = 0;
}

bool DeviceMemory::take(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (taken_ + bytes > total_ || (whole_ && !whole_->take(bytes))) return false;
  taken_ += bytes;
  return true;
}

void DeviceMemory::put_back(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  taken_ -= bytes;
  if (whole_) whole_->put_back(bytes);
}

std::optional<DeviceMemory::Share> DeviceMemory::try_take(std::uint64_t bytes) {
  bytes = std::clamp<std::uint64_t>(bytes, 1, total_);
  return take(bytes) ? std::optional(Share(*this, bytes)) : std::nullopt;
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
