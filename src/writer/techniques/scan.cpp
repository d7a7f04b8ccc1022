#include "writer/techniques/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "program/rejection.hpp"
#include "writer/fused/operator_rules.hpp"
#include "writer/fused/scan_code.hpp"
#include "writer/usual_gpu.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t rows_across = 32;  // neighbouring threads that read 128 bytes at once

std::int64_t power_of_two_from(std::int64_t least) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, least))));
}

//! Chooses what the directive leaves open.
class ShapeChooser {
 public:
  ShapeChooser(const OpGraph& graph, const ScanSpace& space, const ParameterValues& parameters)
      : graph_(graph), space_(space), parameters_(parameters), rows_(std::max<std::int64_t>(1, space.row_count())) {}

  ScanShape choose() {
    shape_.across = parameters_.is_auto("threads") ? lies_across() : parameters_.text("threads") == "across";
    shape_.width = shape_.across ? 1 : choose_width();
    groups_ = std::max<std::int64_t>(1, space_.column.size / shape_.width);
    shape_.across ? choose_ways() : choose_lanes();
    choose_split();
    return shape_;
  }

 private:
  //! Rows lie side by side in memory, columns do not.
  bool lies_across() const {
    if (space_.main_load < 0) return false;
    const Affine& place = space_.fused.terms[space_.main_load].place;
    return std::abs(space_.column.stride_of(place)) != 1 && space_.rows.back().stride_of(place) == 1;
  }

  std::int64_t choose_width() const {
    if (space_.main_load < 0) return 1;
    const Term& load = space_.fused.terms[space_.main_load];
    ScanCode code(graph_, space_, {}, "");
    if (parameters_.is_auto("vector")) return code.access().widest(load.value, load.place);
    const std::int64_t width = parameters_.number("vector");
    if (width > 1 && !code.access().fits(load.value, load.place, width))
      reject(Status::plan_error, parameters_.at("vector"), code.access().why_unfit(load.value, load.place, width));
    return width;
  }

  void choose_lanes() {
    const std::int64_t most = rows_ * 256 >= threads_of_gpu ? 256 : 1024;
    shape_.lanes = std::clamp<std::int64_t>(power_of_two_from(groups_), 32, most);
    if (!parameters_.is_auto("lanes")) shape_.lanes = parameters_.number("lanes");
    if (shape_.lanes < 32)
      reject(Status::plan_error, parameters_.at("lanes"),
             fmt::format("lanes={}: along a row a warp of 32 or more threads scans", shape_.lanes));
    shape_.block = shape_.lanes == 32 ? 256 : shape_.lanes;
  }

  //! Threads of a row read it twice when they are more than one; still, too few threads wait for memory most of all.
  void choose_ways() {
    const std::int64_t enough = threads_of_gpu / rows_;
    shape_.lanes = std::min(rows_across, power_of_two_from(std::min(enough, groups_ / 8)));
    if (is_nested()) shape_.lanes = 1;
    if (!parameters_.is_auto("lanes")) shape_.lanes = parameters_.number("lanes");
    if (shape_.lanes > 32)
      reject(Status::plan_error, parameters_.at("lanes"),
             fmt::format("lanes={}: with threads=across at most 32 share a row", shape_.lanes));
    if (shape_.lanes > 1 && is_nested())
      reject(Status::plan_error, parameters_.at("lanes"),
             fmt::format("lanes={}: one scan here needs another, so with threads=across a row is one thread's",
                         shape_.lanes));
    shape_.block = shape_.lanes == 1 ? 128 : rows_across * shape_.lanes;
  }

  void choose_split() {
    if (!parameters_.is_auto("split")) shape_.split = parameters_.number("split");
    const bool possible = !shape_.across && !is_nested();
    if (shape_.split > 1 && !possible)
      reject(Status::plan_error, parameters_.at("split"),
             shape_.across ? "split: with threads=across a row is not split over blocks"
                           : "split: one scan here needs another, so rows are not split over blocks");
    if (shape_.split > groups_)
      reject(Status::plan_error, parameters_.at("split"),
             fmt::format("split={}: a row has {} groups of columns", shape_.split, groups_));
    if (!parameters_.is_auto("split") || !possible) return;
    const std::int64_t threads = rows_ * shape_.lanes;
    if (threads >= threads_of_gpu / 4) return;
    shape_.split = std::clamp<std::int64_t>(std::min(threads_of_gpu / threads, groups_ / (shape_.lanes * 4)), 1, 1024);
  }

  //! Does one scan need what another gives?
  bool is_nested() const {
    std::vector<bool> needs(space_.fused.terms.size(), false);
    for (std::size_t i = 0; i < needs.size(); ++i) {
      const Term& term = space_.fused.terms[i];
      const bool below = std::ranges::any_of(term.operands, [&](int operand) { return needs[operand]; });
      if (term.kind == TermKind::scan && below) return true;
      needs[i] = below || term.kind == TermKind::scan;
    }
    return false;
  }

  const OpGraph& graph_;
  const ScanSpace& space_;
  const ParameterValues& parameters_;
  std::int64_t rows_;
  ScanShape shape_;
  std::int64_t groups_ = 1;
};

std::map<std::string, std::string> parameters_of(const ScanShape& shape) {
  return {{"threads", shape.across ? "across" : "along"},
          {"lanes", std::to_string(shape.lanes)},
          {"split", std::to_string(shape.split)},
          {"vector", std::to_string(shape.width)}};
}

}  // namespace

const TechniqueDescription& ScanFusion::description() const {
  static const TechniqueDescription description = {
      "scan",
      "fuse",
      "Cumulative sums, products and logsumexp along any dimension, forwards or (between two flips) backwards, in one "
      "kernel with the pointwise nodes before and after them. A row is what is scanned: a warp or a block takes it "
      "tile by tile; where neighbouring rows lie side by side in memory, threads take rows instead. Rows that are few "
      "and long are split over blocks, with a kernel before that finds what each part gives.",
      "Cumulative operators with pointwise neighbours, flips and masks.",
      "Rows of a few elements: threads of a warp have nothing to do. Splitting reads everything twice.",
      "fuse mul_1 cumsum_1 : lanes=256",
      {{"threads", "whether neighbouring threads take neighbouring columns or rows", {"auto", "along", "across"}},
       {"lanes",
        "threads that share a row",
        {"auto", "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"}},
       {"split", "blocks that share a row", {"auto", "1", "2", "4", "8", "16", "32", "64", "128", "256"}},
       {"vector", "neighbouring columns that a thread takes at once", {"auto", "1", "2", "4", "8"}}}};
  return description;
}

bool ScanFusion::is_for(const Region& region) const {
  const auto& nodes = region.computing_nodes();
  const auto node = [&](int index) -> const Node& { return region.graph().nodes[index]; };
  return std::ranges::any_of(nodes, [&](int index) { return is_scan(node(index)); }) &&
         std::ranges::all_of(nodes, [&](int index) { return is_pointwise(node(index)) || is_scan(node(index)); });
}

WrittenGroup ScanFusion::write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                               const std::string& name) const {
  const ScanSpace space = make_scan_space(region, at);
  const ScanShape shape = ShapeChooser(region.graph(), space, parameters).choose();
  WrittenGroup group = ScanCode(region.graph(), space, shape, name).write();
  group.parameters = parameters_of(shape);
  return group;
}

}  // namespace cudal1
