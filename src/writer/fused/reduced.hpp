// What rules of reductions share: the argument of a reduction, at an index of its result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "writer/fused/operator_rules.hpp"

namespace cudal1 {

//! An argument of a reduction: where its elements lie when the result's index is known, and what is run through.
struct Reduced {
  Point point;
  std::vector<int> loops;
  std::int64_t count = 1;  //!< elements of one result
};

//! Of an argument that is a tensor; refuses the node if it is none.
const TensorMeta& meta_of(const RuleCall& call, std::size_t position, std::string_view name);

//! Dimensions that are given as one number, as a list, or not at all: then all.
std::vector<bool> reduced_dims(const RuleCall& call, std::size_t position, std::size_t count);

//! The index of the argument: of the result where a dimension is kept, a loop where it is not.
Reduced reduced_point(const RuleCall& call, const TensorMeta& meta, const std::vector<bool>& reduced);
Reduced reduced_point(const RuleCall& call, std::size_t dims_position);

//! An argument there, as this kind.
int element_of(const RuleCall& call, std::size_t position, const Point& point, ScalarKind kind);
//! The first one.
int element(const RuleCall& call, const Reduced& reduced, ScalarKind kind);

//! "cudal1::Sum<float>"
std::string typed(std::string_view operation, ScalarKind kind);

//! In fp32.
int sum_of(const RuleCall& call, int term, const Reduced& reduced);
int divided(const RuleCall& call, int term, double by);

//! Mean and squared distances from it: a value of cudal1::Welford<float>.
int moments(const RuleCall& call, const Reduced& reduced);
int variance(const RuleCall& call, int moments, const Reduced& reduced, double correction);

}  // namespace cudal1
