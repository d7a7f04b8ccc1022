// What is compared, and how, the tests of the command show (tests/cli/suite_cli_test.sh).
#include "parity/tensor_file.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

TEST(TensorFile, GivesBackWhatWasSaved) {
  const TemporaryFolder folder;
  NamedTensors tensors{{"bytes", at::tensor({1, 2, 3}, at::kByte)},
                       {"doubles", at::tensor({1.5, -2.0}, at::kDouble)},
                       {"flags", at::tensor({1, 0}, at::kByte).to(at::kBool)},
                       {"half", at::full({2, 2}, 0.25, at::kHalf)},
                       {"nothing", at::empty({0, 3})},
                       {"state/turned", at::arange(6, at::kFloat).view({2, 3}).t()}};
  save_tensors(tensors, folder.path() / "file");
  const NamedTensors loaded = load_tensors(folder.path() / "file");
  ASSERT_EQ(loaded.size(), tensors.size());
  for (const auto& [name, tensor] : loaded) {
    EXPECT_EQ(tensor.scalar_type(), tensors[name].scalar_type()) << name;
    EXPECT_TRUE(at::equal(tensor, tensors[name])) << name;
  }
}

TEST(TensorFile, SaysWhereItCouldNotWrite) {
  EXPECT_THROW(save_tensors({{"x", at::ones({2})}}, "/nowhere/file"), Error);
  EXPECT_THROW(load_tensors("/nowhere/file"), Error);
}

}  // namespace
}  // namespace cudal1
