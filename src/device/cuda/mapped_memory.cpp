#include "device/cuda/mapped_memory.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "device/arena.hpp"

namespace cudal1::cuda {
namespace {

CUmemAllocationProp properties_of(int ordinal) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {ordinal}};
  return properties;
}

}  // namespace

MappedMemory MappedMemory::create(int ordinal, std::size_t bytes) {
  const CUmemAllocationProp properties = properties_of(ordinal);
  std::size_t granularity = 0;
  check(driver().cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
        "read the allocation granularity");
  MappedMemory memory;
  memory.bytes_ = (bytes + granularity - 1) / granularity * granularity;
  check(driver().cuMemCreate(&memory.handle_, memory.bytes_, &properties, 0),
        fmt::format("allocate {} MiB of device memory", memory.bytes_ >> 20));
  memory.map(ordinal);
  return memory;
}

MappedMemory MappedMemory::import(int ordinal, const UniqueFd& descriptor, std::size_t bytes) {
  MappedMemory memory;
  memory.bytes_ = bytes;
  void* shared = reinterpret_cast<void*>(static_cast<std::uintptr_t>(descriptor.get()));
  check(driver().cuMemImportFromShareableHandle(&memory.handle_, shared, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        "open the judge's memory");
  memory.map(ordinal);
  return memory;
}

void MappedMemory::map(int ordinal) {
  check(driver().cuMemAddressReserve(&address_, bytes_, 0, 0, 0), "reserve device addresses");
  check(driver().cuMemMap(address_, bytes_, 0, handle_, 0), "map device memory");
  CUmemAccessDesc access{};
  access.location = {CU_MEM_LOCATION_TYPE_DEVICE, {ordinal}};
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  check(driver().cuMemSetAccess(address_, bytes_, &access, 1), "open device memory for access");
}

UniqueFd MappedMemory::export_descriptor() const {
  int fd = -1;
  check(driver().cuMemExportToShareableHandle(&fd, handle_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        "share device memory");
  return UniqueFd(fd);
}

MappedMemory::MappedMemory(MappedMemory&& other) noexcept
    : handle_(std::exchange(other.handle_, 0)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

MappedMemory& MappedMemory::operator=(MappedMemory&& other) noexcept {
  if (this == &other) return *this;
  release();
  handle_ = std::exchange(other.handle_, 0);
  address_ = std::exchange(other.address_, 0);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

MappedMemory::~MappedMemory() { release(); }

void MappedMemory::release() {
  if (address_) {
    driver().cuMemUnmap(address_, bytes_);
    driver().cuMemAddressFree(address_, bytes_);
  }
  if (handle_) driver().cuMemRelease(handle_);
  address_ = 0;
  handle_ = 0;
}

}  // namespace cudal1::cuda

namespace cudal1 {
namespace {

class CudaArena : public Arena {
 public:
  CudaArena(int ordinal, std::size_t bytes) : memory_(cuda::MappedMemory::create(ordinal, bytes)) {
    base_ = reinterpret_cast<std::byte*>(memory_.address());
    bytes_ = memory_.bytes();
    descriptor_ = memory_.export_descriptor();
  }

 private:
  cuda::MappedMemory memory_;
};

}  // namespace

std::unique_ptr<Arena> make_cuda_arena(int ordinal, std::size_t bytes) {
  cuda::use_primary_context(ordinal);
  return std::make_unique<CudaArena>(ordinal, bytes);
}

}  // namespace cudal1
