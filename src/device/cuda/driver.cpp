#include "device/cuda/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

namespace cudal1::cuda {
namespace {

#define CUDAL1_TEXT_OF(name) #name
#define CUDAL1_SYMBOL(name) CUDAL1_TEXT_OF(name)  // expands cuda.h's version macros first

Driver open_driver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!library) throw DeviceError(Status::unsupported, "no NVIDIA driver here (libcuda.so.1 is not found)", true);
  Driver table;
#define CUDAL1_LOAD(name)                                                                     \
  table.name = reinterpret_cast<decltype(table.name)>(::dlsym(library, CUDAL1_SYMBOL(name))); \
  if (!table.name)                                                                            \
    throw DeviceError(Status::unsupported, "the NVIDIA driver is too old: it lacks " CUDAL1_SYMBOL(name), true);
  CUDAL1_DRIVER_FUNCTIONS(CUDAL1_LOAD)
#undef CUDAL1_LOAD
  return table;
}

int attribute(CUdevice_attribute which, CUdevice device) {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, which, device), "read a device attribute");
  return value;
}

CUdevice device_at(int ordinal) {
  CUdevice device = 0;
  check(driver().cuDeviceGet(&device, ordinal), fmt::format("open GPU {}", ordinal));
  return device;
}

std::string uuid_text(const CUuuid& uuid) {
  std::string text;
  for (const char byte : uuid.bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

const Driver& driver() {
  static const Driver table = open_driver();
  return table;
}

Status status_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ASSERT:
      return Status::illegal_access;
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return Status::timeout;
    case CUDA_ERROR_OUT_OF_MEMORY:
      return Status::out_of_memory;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
      return Status::launch_error;
    case CUDA_ERROR_NOT_FOUND:
      return Status::plan_error;
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return Status::unsupported;
    default:
      return Status::crashed;
  }
}

bool is_fatal(CUresult result) {
  const Status status = status_of(result);
  return status == Status::illegal_access || status == Status::timeout || status == Status::crashed;
}

std::string describe(CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &text);
  return fmt::format("{} ({})", text ? text : "unknown error", name ? name : std::to_string(result));
}

void check(CUresult result, const std::string& action, SourcePosition at) {
  if (result == CUDA_SUCCESS) return;
  throw DeviceError(status_of(result), fmt::format("{}: {}", action, describe(result)), is_fatal(result), at);
}

int device_count(std::string& reason) try {
  const CUresult started = driver().cuInit(0);
  if (started != CUDA_SUCCESS) {
    reason = "the NVIDIA driver does not start: " + describe(started);
    return 0;
  }
  int count = 0;
  check(driver().cuDeviceGetCount(&count), "count the GPUs");
  if (count == 0) reason = "the NVIDIA driver sees no GPU";
  return count;
} catch (const DeviceError& error) {
  reason = error.what();
  return 0;
}

CUcontext use_primary_context(int ordinal, unsigned flags) {
  check(driver().cuInit(0), "start the driver");
  if (flags != CU_CTX_SCHED_AUTO)
    check(driver().cuDevicePrimaryCtxSetFlags(device_at(ordinal), flags), "set the context's flags");
  CUcontext context = nullptr;
  check(driver().cuDevicePrimaryCtxRetain(&context, device_at(ordinal)), "make a context");
  check(driver().cuCtxSetCurrent(context), "use the context");
  return context;
}

DeviceInfo device_info(int ordinal) {
  const CUdevice device = device_at(ordinal);
  DeviceInfo info;
  std::array<char, 256> name{};
  check(driver().cuDeviceGetName(name.data(), static_cast<int>(name.size()), device), "read the GPU's name");
  info.name = name.data();
  CUuuid uuid{};
  check(driver().cuDeviceGetUuid(&uuid, device), "read the GPU's id");
  info.uuid = uuid_text(uuid);
  info.target = fmt::format("sm_{}{}", attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
                            attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  info.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  info.clock_ghz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device) / 1e6;
  info.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
  std::size_t memory = 0;
  check(driver().cuDeviceTotalMem(&memory, device), "read the GPU's memory size");
  info.memory_bytes = static_cast<std::int64_t>(memory);
  return info;
}

std::uint64_t free_bytes(int ordinal) {
  use_primary_context(ordinal);
  std::size_t free = 0, total = 0;
  const CUresult read = driver().cuMemGetInfo(&free, &total);
  driver().cuCtxSetCurrent(nullptr);
  driver().cuDevicePrimaryCtxRelease(device_at(ordinal));
  check(read, "read the free memory");
  return free;
}

int most_resident_threads(int ordinal) {
  return attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device_at(ordinal));
}

double peak_bytes_per_second(int ordinal) {
  const CUdevice device = device_at(ordinal);
  const double kilohertz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device);
  const double bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
  return 2.0 * kilohertz * 1e3 * bits / 8.0;  // double data rate
}

}  // namespace cudal1::cuda
