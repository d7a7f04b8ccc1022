#include "device/host_mapping.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "device/device.hpp"

namespace cudal1 {

HostMapping::HostMapping(const UniqueFd& memory, std::size_t bytes) {
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED)
    throw DeviceError(Status::out_of_memory, fmt::format("cannot map {} bytes: {}", bytes, std::strerror(errno)),
                      false);
  bytes_ = {static_cast<std::byte*>(mapped), bytes};
}

HostMapping::HostMapping(HostMapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

HostMapping& HostMapping::operator=(HostMapping&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

HostMapping::~HostMapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace cudal1
