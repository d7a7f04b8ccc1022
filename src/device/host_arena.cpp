#include <fmt/format.h>
#include <sys/mman.h>

#include "device/arena.hpp"
#include "device/device.hpp"

namespace cudal1 {
namespace {

class HostArena : public Arena {
 public:
  explicit HostArena(std::size_t bytes) {
    descriptor_ = UniqueFd(::memfd_create("cudal1-arena", MFD_CLOEXEC));
    if (!descriptor_ || ::ftruncate(descriptor_.get(), static_cast<off_t>(bytes)) != 0) fail(bytes);
    void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
    if (mapped == MAP_FAILED) fail(bytes);
    base_ = static_cast<std::byte*>(mapped);
    bytes_ = bytes;
  }
  ~HostArena() override { ::munmap(base_, bytes_); }

 private:
  [[noreturn]] static void fail(std::size_t bytes) {
    throw DeviceError(Status::out_of_memory, fmt::format("no room for {} bytes of host memory", bytes), false);
  }
};

}  // namespace

std::unique_ptr<Arena> make_host_arena(std::size_t bytes) { return std::make_unique<HostArena>(bytes); }

}  // namespace cudal1
