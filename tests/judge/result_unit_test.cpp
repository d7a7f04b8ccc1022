#include "judge/result_unit.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

TEST(ResultUnit, IsThatOfTheNumbersThatUsualFormulasPassThrough) {
  EXPECT_EQ(result_unit("aten::tanh"), ResultUnit::one);
  EXPECT_EQ(result_unit("aten::elu"), ResultUnit::one);
  EXPECT_EQ(result_unit("aten::gelu"), ResultUnit::argument);
  EXPECT_EQ(result_unit("aten::var.correction"), ResultUnit::square);
  EXPECT_EQ(result_unit("aten::std.correction"), ResultUnit::root);
  EXPECT_EQ(result_unit("aten::glu"), ResultUnit::gate);
  EXPECT_EQ(result_unit("aten::cumsum"), ResultUnit::scan);
  EXPECT_EQ(result_unit("aten::relu"), ResultUnit::result);
  EXPECT_EQ(result_unit("aten::add.Tensor"), ResultUnit::result);
}

}  // namespace
}  // namespace cudal1
