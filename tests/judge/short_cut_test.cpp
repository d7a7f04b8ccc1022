#include "judge/short_cut.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

std::vector<double> times(std::size_t count, double ratio) { return std::vector<double>(count, ratio); }

TEST(ShortCutRule, IsTakenByAProgramThatIsSlowerOnDerivedInputs) {
  EXPECT_EQ(short_cut_in(times(40, 3.0), times(16, 0.5)), ShortCut::taken);
  EXPECT_EQ(short_cut_in(times(40, 3.0), times(16, 2.69)), ShortCut::taken);
}

TEST(ShortCutRule, IsNotTakenByOneThatIsAsFastOrFaster) {
  EXPECT_EQ(short_cut_in(times(40, 3.0), times(16, 2.71)), ShortCut::none);
  EXPECT_EQ(short_cut_in(times(40, 3.0), times(16, 5.0)), ShortCut::none);
}

TEST(ShortCutRule, IsSuspectedWhereThereAreFewPairs) {
  EXPECT_EQ(short_cut_in(times(15, 3.0), times(5, 0.5)), ShortCut::suspected);
  EXPECT_EQ(short_cut_in(times(15, 3.0), times(5, 3.0)), ShortCut::none);
}

TEST(ShortCutRule, IsNotFooledByAFastPairAmongTheDerived) {
  std::vector<double> derived = times(16, 0.5);
  derived[3] = derived[7] = 3.0;
  EXPECT_EQ(short_cut_in(times(40, 3.0), derived), ShortCut::taken);
}

TEST(ShortCutRule, NeedsMoreThanAFewSlowPairs) {
  std::vector<double> derived = times(16, 3.0);
  derived[0] = derived[5] = derived[6] = derived[11] = derived[15] = 0.5;
  EXPECT_EQ(short_cut_in(times(40, 3.0), derived), ShortCut::none);
}

TEST(ShortCutRule, KnowsNothingWithoutBothKinds) {
  EXPECT_EQ(short_cut_in(times(40, 3.0), {}), ShortCut::none);
  EXPECT_EQ(short_cut_in({}, times(40, 0.5)), ShortCut::none);
}

}  // namespace
}  // namespace cudal1
