#include "writer/techniques/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "program/rejection.hpp"
#include "writer/fused/operator_rules.hpp"
#include "writer/fused/row_code.hpp"
#include "writer/usual_gpu.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t most_kept_bytes = 128;  // in registers of a thread, of 1024 that share a block
constexpr std::int64_t rows_across = 32;       // neighbouring threads that read 128 bytes at once

std::int64_t power_of_two_from(std::int64_t least) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, least))));
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

//! Chooses what the directive leaves open.
class ShapeChooser {
 public:
  ShapeChooser(const OpGraph& graph, const RowSpace& space, const ParameterValues& parameters)
      : graph_(graph), space_(space), parameters_(parameters) {}

  RowShape choose() {
    shape_.across = parameters_.is_auto("threads") ? lies_across() : parameters_.text("threads") == "across";
    shape_.width = shape_.across ? 1 : choose_width();
    groups_ = std::max<std::int64_t>(1, space_.column_count() / shape_.width);
    choose_lanes();
    choose_split();
    choose_keep();
    return shape_;
  }

 private:
  //! Rows lie side by side in memory, columns do not.
  bool lies_across() const {
    if (space_.main_load() < 0) return false;
    const Affine& place = space_.fused.terms[space_.main_load()].place;
    return space_.columns.back().stride_of(place) != 1 && space_.rows.back().stride_of(place) == 1 &&
           space_.rows.back().size >= 8;
  }

  std::int64_t choose_width() const {
    if (space_.main_load() < 0) return 1;
    const Term& load = space_.fused.terms[space_.main_load()];
    RowCode code(graph_, space_, {}, "");
    if (parameters_.is_auto("vector")) return code.access().widest(load.value, load.place);
    const std::int64_t width = parameters_.number("vector");
    if (width > 1 && !code.access().fits(load.value, load.place, width))
      reject(Status::plan_error, parameters_.at("vector"), code.access().why_unfit(load.value, load.place, width));
    return width;
  }

  void choose_lanes() {
    const std::int64_t rows = std::max<std::int64_t>(1, space_.row_count());
    const std::int64_t wanted = std::min(groups_, std::max(ceil_div(groups_, 4), threads_of_gpu / rows));
    const std::int64_t most = shape_.across ? 32 : 1024;
    shape_.lanes =
        parameters_.is_auto("lanes") ? std::min(most, power_of_two_from(wanted)) : parameters_.number("lanes");
    if (shape_.across && shape_.lanes > most)
      reject(Status::plan_error, parameters_.at("lanes"),
             fmt::format("lanes={}: with threads=across at most {} share a row", shape_.lanes, most));
    shape_.block = shape_.across ? rows_across * shape_.lanes : std::max<std::int64_t>(shape_.lanes, 256);
    if (!shape_.across && shape_.lanes > 32) shape_.block = shape_.lanes;
  }

  void choose_split() {
    if (!parameters_.is_auto("split")) {
      shape_.split = parameters_.number("split");
      if (shape_.split > groups_)
        reject(Status::plan_error, parameters_.at("split"),
               fmt::format("split={}: a row has {} groups of columns", shape_.split, groups_));
      return;
    }
    const std::int64_t rows = std::max<std::int64_t>(1, space_.row_count());
    if (rows * shape_.lanes >= threads_of_gpu / 4 || parameters_.text("keep") == "yes") return;
    if (most_parts() == 1) return;  // a kernel more would cost more than it gives
    while (may_share_less() && rows * most_parts() < multiprocessors) shape_.block = shape_.lanes /= 2;
    shape_.split = balanced_split(ceil_div(threads_of_gpu, rows * shape_.lanes));
  }

  //! Of a row, for each of which every thread has something to do.
  std::int64_t most_parts() const { return std::clamp<std::int64_t>(groups_ / (shape_.lanes * 4), 1, 1024); }

  //! Smaller blocks, of which there are more.
  bool may_share_less() const { return parameters_.is_auto("lanes") && !shape_.across && shape_.lanes > 128; }

  //! About `enough`, such that multiprocessors have equally many blocks: else most of them wait for a few at the end.
  std::int64_t balanced_split(std::int64_t enough) const {
    const std::int64_t blocks_of_rows = ceil_div(std::max<std::int64_t>(1, space_.row_count()), shape_.rows_a_block());
    const auto idle_percent = [&](std::int64_t split) {
      const std::int64_t blocks = blocks_of_rows * split, places = ceil_div(blocks, multiprocessors) * multiprocessors;
      return 100 * (places - blocks) / places;
    };
    const std::int64_t most = std::min(2 * enough, most_parts());
    std::int64_t best = std::min(enough, most);
    const auto worth = [&](std::int64_t split) { return std::pair(idle_percent(split), std::abs(split - enough)); };
    for (std::int64_t split = ceil_div(best, 2); split <= most; ++split)
      if (worth(split) < worth(best)) best = split;
    return best;
  }

  void choose_keep() {
    const std::int64_t bytes = kept_bytes(), most = shape_.block > 512 ? most_kept_bytes : 2 * most_kept_bytes;
    // Where only what is read under a condition changes from column to column, registers have nothing to keep.
    const bool fits = shape_.split == 1 && bytes > 0 && bytes <= most;
    const bool useful = space_.passes() + (space_.some_output_has_columns() ? 1 : 0) > 1;
    if (parameters_.is_auto("keep")) {
      shape_.keep = fits && useful;
      return;
    }
    shape_.keep = parameters_.text("keep") == "yes";
    if (shape_.keep && !fits) reject(Status::plan_error, parameters_.at("keep"), why_not_kept(bytes, most));
  }

  std::string why_not_kept(std::int64_t bytes, std::int64_t most) const {
    if (shape_.split > 1)
      return fmt::format("keep=yes: split is {}, so other kernels make the later passes", shape_.split);
    if (bytes == 0) return "keep=yes: every load stands under a condition, as those of cat and pad do; it is not kept";
    return fmt::format(
        "keep=yes: a thread has {} bytes of a row, more than the {} for which it has registers; use more lanes", bytes,
        most);
  }

  //! What the reductions read of a row, for one thread.
  std::int64_t kept_bytes() const {
    std::int64_t bytes = 0;
    std::vector<int> operands;
    for (const int reduction : space_.reductions)
      for (const int operand : space_.fused.terms[reduction].operands) operands.push_back(operand);
    for (const int load : space_.column_loads(operands))
      bytes += size_in_bytes(graph_.values[space_.fused.terms[load].value].meta.dtype);
    return bytes * ceil_div(groups_, shape_.lanes) * shape_.width;
  }

  const OpGraph& graph_;
  const RowSpace& space_;
  const ParameterValues& parameters_;
  RowShape shape_;
  std::int64_t groups_ = 1;
};

std::map<std::string, std::string> parameters_of(const RowShape& shape) {
  return {{"threads", shape.across ? "across" : "along"},
          {"lanes", std::to_string(shape.lanes)},
          {"split", std::to_string(shape.split)},
          {"vector", std::to_string(shape.width)},
          {"keep", shape.keep ? "yes" : "no"}};
}

}  // namespace

const TechniqueDescription& RowFusion::description() const {
  static const TechniqueDescription description = {
      "rows",
      "fuse",
      "Reductions over any dimensions (sum, mean, product, extrema with their places, variance, norms, logsumexp, "
      "softmax, layer, group, instance, RMS and batch normalisation, losses) in one kernel with the pointwise nodes "
      "before and after them. A row is what one result is made of; some threads share it, pass through its columns "
      "once for all reductions that do not need each other, and keep them in registers where they fit. Rows that are "
      "few and long are split over blocks, with a kernel for each pass. Losses that reduce rows and then what these "
      "give (cross entropy, triplet, cosine embedding) become two kernels or more.",
      "Softmax and normalisations with pointwise neighbours; means and losses over whole tensors.",
      "Long rows with several reductions that do not fit registers: every pass reads them again.",
      "fuse mul_1 softmax_1 : lanes=128 keep=yes",
      {{"threads", "whether neighbouring threads take neighbouring columns or rows", {"auto", "along", "across"}},
       {"lanes",
        "threads that share a row",
        {"auto", "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"}},
       {"split", "blocks that share a row", {"auto", "1", "2", "4", "8", "16", "32", "64", "128", "256"}},
       {"vector", "neighbouring columns that a thread loads at once", {"auto", "1", "2", "4", "8"}},
       {"keep", "whether columns stay in registers between passes", {"auto", "yes", "no"}}}};
  return description;
}

bool RowFusion::is_for(const Region& region) const {
  const auto& nodes = region.computing_nodes();
  const auto node = [&](int index) -> const Node& { return region.graph().nodes[index]; };
  const auto reduces = [&](int index) { return is_reduction(region.graph(), node(index)); };
  return std::ranges::any_of(nodes, reduces) &&
         std::ranges::all_of(nodes, [&](int index) { return is_pointwise(node(index)) || reduces(index); });
}

//! The parameters are for the rows, of which there is most.
WrittenGroup RowFusion::write_stages(const LossStages& stages, const ParameterValues& parameters, SourcePosition at,
                                     const std::string& name) const {
  const auto defaults = ParameterValues::defaults(description().parameters);
  WrittenGroup group = joined(write(Region(stages.graph, stages.first), parameters, at, name + "_of_rows"),
                              write(Region(stages.graph, stages.second), defaults, at, name));
  group.buffers.insert(group.buffers.begin(), stages.buffers.begin(), stages.buffers.end());
  return group;
}

WrittenGroup RowFusion::write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                              const std::string& name) const {
  if (const auto stages = loss_stages(region, at, name)) return write_stages(*stages, parameters, at, name);
  return write_rows(region.graph(), make_row_space(region, at), parameters, name);
}

WrittenGroup write_rows(const OpGraph& graph, const RowSpace& space, const ParameterValues& parameters,
                        const std::string& name) {
  const RowShape shape = ShapeChooser(graph, space, parameters).choose();
  WrittenGroup group = RowCode(graph, space, shape, name).write();
  group.parameters = parameters_of(shape);
  return group;
}

}  // namespace cudal1
