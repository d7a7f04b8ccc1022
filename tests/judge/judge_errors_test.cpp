#include "judge/judge_errors.hpp"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <new>

#include "device/device.hpp"
#include "graph/torch_errors.hpp"

namespace cudal1 {
namespace {

template <class Throw>
Failure failure_after(const Throw& throw_something) {
  try {
    throw_something();
  } catch (...) {
    return failure_of_current_exception();
  }
  return {Status::ok, "nothing was thrown"};
}

void expect_out_of_memory(const Failure& failure) {
  EXPECT_EQ(failure.status, Status::out_of_memory) << failure.message;
  EXPECT_EQ(failure.message.find('\n'), std::string::npos) << failure.message;
  EXPECT_NE(failure.message.find("memory"), std::string::npos);
}

TEST(JudgeErrors, AreOutOfMemoryInWhateverFormLibTorchSaysIt) {
  expect_out_of_memory(failure_after(
      [] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate 20.00 GiB.\nmore"); }));
  expect_out_of_memory(failure_after([] { TORCH_CHECK(false, "CUDA error: out of memory\nmore"); }));
  expect_out_of_memory(
      failure_after([] { TORCH_CHECK(false, "DefaultCPUAllocator: can't allocate memory: 8 bytes"); }));
  expect_out_of_memory(
      failure_after([] { TORCH_CHECK(false, "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"); }));
  expect_out_of_memory(
      failure_after([] { with_torch_errors("node mm_1", [] { TORCH_CHECK(false, "CUDA error: out of memory"); }); }));
  expect_out_of_memory(failure_after([] { throw DeviceError(Status::out_of_memory, "no memory for 8 bytes", false); }));
  expect_out_of_memory(failure_after([] { throw std::bad_alloc(); }));
}

TEST(JudgeErrors, AreOurOwnFaultOtherwiseAndSayItInOneLine) {
  const Failure from_torch = failure_after([] { TORCH_CHECK(false, "sizes do not match\nsecond line"); });
  EXPECT_EQ(from_torch.status, Status::judge_error);
  EXPECT_EQ(from_torch.message, "sizes do not match");
  EXPECT_NE(from_torch.details.find("second line"), std::string::npos);
  EXPECT_EQ(failure_after([] { throw Error("disk full"); }).message, "disk full");
  EXPECT_EQ(failure_after([] { throw DeviceError(Status::illegal_access, "ours", true); }).status, Status::judge_error);
  EXPECT_EQ(failure_after([] { throw 7; }).status, Status::judge_error);
}

}  // namespace
}  // namespace cudal1
