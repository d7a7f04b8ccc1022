// Models of these tests are so small that LibTorch's threads wait for each other longer than they compute.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace cudal1 {
namespace {

class OneTorchThread : public testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};

[[maybe_unused]] const testing::Environment* const one_torch_thread =
    testing::AddGlobalTestEnvironment(new OneTorchThread);  // NOLINT: GoogleTest deletes it

}  // namespace
}  // namespace cudal1
