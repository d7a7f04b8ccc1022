#include "writer/products/triangle.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudal1 {
namespace {

class TriangleFinder {
 public:
  explicit TriangleFinder(const ProductResults& results) : results_(results), fused_(results.fused) {}

  std::optional<KeptTriangle> find() const {
    for (std::size_t i = 0; i < fused_.terms.size(); ++i) {
      const auto triangle = triangle_at(static_cast<int>(i));
      if (!triangle) continue;
      const std::vector<bool> reaches_sum = terms_that_reach_a_sum(i);
      const auto needs_sums = [&](const auto& output) { return reaches_sum[static_cast<std::size_t>(output.term)]; };
      if (std::ranges::none_of(fused_.outputs, needs_sums)) return triangle;
    }
    return std::nullopt;
  }

 private:
  const Term& term(int index) const { return fused_.terms[static_cast<std::size_t>(index)]; }

  //! As the rule of tril and triu writes it.
  std::optional<KeptTriangle> triangle_at(int index) const {
    const Term& choice = term(index);
    if (choice.kind != TermKind::map || choice.code != "{0} ? {1} : {2}") return std::nullopt;
    if (term(choice.operands[2]).kind != TermKind::constant || term(choice.operands[2]).code == sum_code)
      return std::nullopt;
    const Term& kept = term(choice.operands[0]);
    const bool lower = kept.code == "{0} <= 0";
    if (kept.kind != TermKind::map || (!lower && kept.code != "{0} >= 0")) return std::nullopt;
    const Term& across = term(kept.operands[0]);
    if (across.kind != TermKind::position || !is_column_minus_row(across.place)) return std::nullopt;
    return KeptTriangle{lower, -across.place.offset};
  }

  bool is_column_minus_row(const Affine& place) const {
    const auto is_one = [](const std::vector<Loop>& loops) { return loops.size() == 1 && loops[0].atoms.size() == 1; };
    if (!is_one(results_.rows) || !is_one(results_.columns)) return false;
    return place.factors.size() == 2 && results_.rows[0].stride_of(place) == -1 &&
           results_.columns[0].stride_of(place) == 1;
  }

  //! By a way around the triangle. Terms come after those that they are made of.
  std::vector<bool> terms_that_reach_a_sum(std::size_t triangle) const {
    std::vector<bool> reaches;
    for (const Term& one : fused_.terms) {
      const auto reached = [&](int operand) { return reaches[static_cast<std::size_t>(operand)]; };
      const bool is_sum = one.kind == TermKind::constant && one.code == sum_code;
      reaches.push_back(reaches.size() != triangle && (is_sum || std::ranges::any_of(one.operands, reached)));
    }
    return reaches;
  }

  const ProductResults& results_;
  const FusedTerms& fused_;
};

}  // namespace

std::string KeptTriangle::is_needed(const ProductTile& tile) const {
  const std::int64_t limit = lower ? diagonal + tile.rows - 1 : diagonal - tile.columns + 1;
  return fmt::format("static_cast<long long>(first_column) - static_cast<long long>(first_row) {} {}ll",
                     lower ? "<=" : ">=", limit);
}

std::optional<KeptTriangle> kept_triangle(const ProductResults& results) { return TriangleFinder(results).find(); }

}  // namespace cudal1
