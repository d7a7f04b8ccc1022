// The judge's memory in a runner whose device is the host.
#pragma once

#include <cstddef>
#include <span>

#include "base/unique_fd.hpp"

namespace cudal1 {

class HostMapping {
 public:
  HostMapping() = default;
  //! Throws DeviceError(out_of_memory).
  HostMapping(const UniqueFd& memory, std::size_t bytes);
  HostMapping(HostMapping&& other) noexcept;
  HostMapping& operator=(HostMapping&& other) noexcept;
  ~HostMapping();

  std::span<std::byte> bytes() const { return bytes_; }  //!< empty where nothing is mapped

 private:
  std::span<std::byte> bytes_;
};

}  // namespace cudal1
