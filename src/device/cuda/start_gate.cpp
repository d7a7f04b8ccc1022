#include "device/cuda/start_gate.hpp"

#include <algorithm>
#include <atomic>

namespace cudal1::cuda {
namespace {

// A host that others slow down takes up to some times as long as in the call before.
constexpr int patience = 10;
constexpr std::chrono::nanoseconds shortest = std::chrono::milliseconds(1), longest = std::chrono::milliseconds(100);

}  // namespace

StartGate::StartGate(CUfunction kernel) : kernel_(kernel) {
  void* memory = nullptr;
  check(driver().cuMemHostAlloc(&memory, sizeof *word_, CU_MEMHOSTALLOC_DEVICEMAP), "make the gate");
  word_ = static_cast<unsigned*>(memory);
  *word_ = ticket_;
}

StartGate::~StartGate() { driver().cuMemFreeHost(word_); }

void StartGate::close(CUstream stream, std::chrono::nanoseconds longest_wait) {
  CUdeviceptr word = 0;
  check(driver().cuMemHostGetDevicePointer(&word, word_, 0), "find the gate");
  auto ticket = ++ticket_;
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

void GateLimit::learn(std::chrono::nanoseconds enqueueing, bool held) {
  longest_wait_ = std::clamp<std::chrono::nanoseconds>(patience * enqueueing, shortest, longest);
  expired_in_a_row_ = held ? 0 : expired_in_a_row_ + 1;
}

}  // namespace cudal1::cuda
