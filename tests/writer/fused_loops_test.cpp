// Indices of fused kernels: sums of loop variables, through views and back.
#include <gtest/gtest.h>

#include "writer/fused/loops.hpp"
#include "writer/fused/view_points.hpp"

namespace cudal1 {
namespace {

Affine sum(std::int64_t offset, std::vector<std::pair<int, std::int64_t>> factors) {
  Affine made{offset, {}};
  for (const auto& [atom, factor] : factors) made.add(atom, factor);
  return made;
}

TensorMeta dense(std::vector<std::int64_t> sizes) { return {DType::f32, sizes, contiguous_strides(sizes)}; }

TEST(FusedAffine, AddsUpAndForgetsWhatCancels) {
  Affine place = sum(3, {{2, 4}, {0, 1}});
  place.add(2, -4);
  EXPECT_EQ(place, sum(3, {{0, 1}}));
  place.add(sum(1, {{0, 2}, {1, 5}}), 2);
  EXPECT_EQ(place, sum(5, {{0, 5}, {1, 10}}));
  EXPECT_EQ(place.factor_of(1), 10);
  EXPECT_EQ(place.factor_of(7), 0);
}

TEST(FusedAffine, SplitAtomsAreSaidByTheirParts) {
  AtomTable atoms;
  const int atom = atoms.add(12);
  atoms.split(atom, 4);
  const std::vector<int> parts = atoms.parts_of({atom});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(atoms.size(parts[0]), 3);
  EXPECT_EQ(atoms.size(parts[1]), 4);
  EXPECT_EQ(atoms.resolved(sum(1, {{atom, 2}})), sum(1, {{parts[0], 8}, {parts[1], 2}}));
}

TEST(FusedAffine, KnowsItsRangeForwardsAndBackwards) {
  AtomTable atoms;
  const int i = atoms.add(5), j = atoms.add(3);
  EXPECT_EQ(atoms.largest(sum(1, {{i, 2}, {j, -1}})), 9);
  EXPECT_EQ(atoms.smallest(sum(1, {{i, 2}, {j, -1}})), -1);
}

TEST(FusedAffine, PassesOnceWhatIsNeitherRepeatedNorLeftOut) {
  AtomTable atoms;
  const int i = atoms.add(4), j = atoms.add(3), computed = atoms.add_computed(3, 0);
  EXPECT_TRUE(atoms.pass_once({sum(0, {{i, 1}}), sum(0, {{j, 1}})}, {4, 3}));
  EXPECT_TRUE(atoms.pass_once({sum(0, {{i, 3}, {j, 1}})}, {12}));
  EXPECT_FALSE(atoms.pass_once({sum(0, {{i, 1}, {j, 1}})}, {12}));                     // overlaps
  EXPECT_FALSE(atoms.pass_once({sum(0, {{i, 1}}), sum(0, {{i, 1}})}, {4, 4}));         // the diagonal
  EXPECT_FALSE(atoms.pass_once({sum(0, {{i, 1}})}, {5}));                              // not to the end
  EXPECT_FALSE(atoms.pass_once({sum(1, {{j, 1}})}, {3}));                              // not from the start
  EXPECT_FALSE(atoms.pass_once({sum(0, {{i, 1}}), sum(0, {{computed, 1}})}, {4, 3}));  // who knows
}

TEST(FusedViews, FindTheIndexOfAPlace) {
  AtomTable atoms;
  const int i = atoms.add(6), j = atoms.add(5);
  const auto transposed = point_at(dense({5, 6}), sum(0, {{j, 6}, {i, 1}}), atoms);
  ASSERT_TRUE(transposed);
  EXPECT_EQ(*transposed, (Point{sum(0, {{j, 1}}), sum(0, {{i, 1}})}));
  const auto backwards = point_at(dense({5, 6}), sum(29, {{j, -6}, {i, -1}}), atoms);
  ASSERT_TRUE(backwards);
  EXPECT_EQ(*backwards, (Point{sum(4, {{j, -1}}), sum(5, {{i, -1}})}));
}

TEST(FusedViews, SplitLoopsWhereDimensionsEnd) {
  AtomTable atoms;
  const int flat = atoms.add(30);
  const auto point = point_at(dense({5, 6}), sum(0, {{flat, 1}}), atoms);
  ASSERT_TRUE(point);
  EXPECT_TRUE(atoms.is_split(flat));
  EXPECT_TRUE(atoms.pass_once(*point, {5, 6}));
}

TEST(FusedViews, SayWhenNoLoopFollows) {
  AtomTable atoms;
  const int part = atoms.add(13);  // of 30 elements in rows of 6, from the middle of a row on
  EXPECT_FALSE(point_at(dense({5, 6}), sum(7, {{part, 1}}), atoms));
}

TEST(FusedLoops, JoinWhatEveryAccessWalksThroughAsOne) {
  AtomTable atoms;
  const int i = atoms.add(4), j = atoms.add(5);
  const std::vector<Affine> both = {sum(0, {{i, 5}, {j, 1}}), sum(2, {{i, 10}, {j, 2}})};
  EXPECT_EQ(joined_loops(atoms, {i, j}, both, {}).size(), 1u);
  EXPECT_EQ(joined_loops(atoms, {i, j}, both, {j}).size(), 2u);  // the index of j itself is asked for
  EXPECT_EQ(joined_loops(atoms, {i, j}, {both[0], sum(0, {{j, 1}})}, {}).size(), 2u);
  EXPECT_EQ(joined_loops(atoms, {i, j}, {both[0], sum(19, {{i, -5}, {j, -1}})}, {}).size(), 1u);  // all backwards
  EXPECT_EQ(joined_loops(atoms, {i, j}, {both[0], sum(4, {{i, 5}, {j, -1}})}, {}).size(), 2u);
}

TEST(FusedLoops, OrderAtomsAsMemoryLies) {
  EXPECT_EQ(in_memory_order(sum(0, {{0, 1}, {1, -20}, {2, 5}}), {0, 1, 2, 3}), (std::vector<int>{3, 1, 2, 0}));
}

TEST(FusedLoops, SayPlacesAndIndices) {
  AtomTable atoms;
  const int i = atoms.add(4), j = atoms.add(5);
  const std::vector<Loop> loops = {{4, {i}}, {5, {j}}};
  EXPECT_EQ(place_text(sum(3, {{i, 5}, {j, 1}}), loops, {"a", "b"}, "u"), "3u + 5u * a + b");
  EXPECT_EQ(place_text({}, loops, {"a", "b"}, "u"), "0");
  EXPECT_EQ(index_statements(loops, {"a", "b"}, "n", false, ""),
            "const unsigned b = n % 5u;\nconst unsigned a = n / 5u;\n");
}

}  // namespace
}  // namespace cudal1
