#include "device/cuda/start_gate.hpp"

#include <atomic>
#include <cstring>

namespace cudal1::cuda {
namespace {

constexpr std::size_t page_bytes = 4096;

}  // namespace

StartGate::StartGate(CUfunction kernel) : kernel_(kernel) {
  void* memory = nullptr;
  check(driver().cuMemHostAlloc(&memory, page_bytes, CU_MEMHOSTALLOC_DEVICEMAP), "make the gate");
  word_ = static_cast<unsigned*>(memory);
}

StartGate::~StartGate() { driver().cuMemFreeHost(word_); }

void StartGate::close(CUstream stream, std::chrono::nanoseconds longest_wait) {
  CUdeviceptr word = 0;
  check(driver().cuMemHostGetDevicePointer(&word, word_, 0), "find the gate");
  std::memset(word_, 0, page_bytes);  // nothing can be remembered here
  if (++ticket_ == 0) ++ticket_;      // zero would be open already
  unsigned ticket = ticket_;
  auto wait = static_cast<unsigned long long>(longest_wait.count());
  void* parameters[] = {&word, &ticket, &wait};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  opens_itself_ = Clock::now() + longest_wait;  // the device begins to wait later than this, never earlier
  check(driver().cuLaunchKernelEx(&config, kernel_, parameters, nullptr), "close the gate");
}

bool StartGate::open() {
  std::atomic_ref<unsigned>(*word_).store(ticket_, std::memory_order_release);
  return Clock::now() < opens_itself_;
}

}  // namespace cudal1::cuda
