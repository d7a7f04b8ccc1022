#include "writer/techniques/pointwise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "program/rejection.hpp"
#include "writer/fused/access_code.hpp"
#include "writer/fused/element_code.hpp"
#include "writer/fused/loops.hpp"
#include "writer/fused/lowering.hpp"
#include "writer/fused/operator_rules.hpp"

namespace cudal1 {
namespace {

class PointwiseKernel {
 public:
  PointwiseKernel(const Region& region, const ParameterValues& parameters, SourcePosition at, std::string name)
      : graph_(region.graph()),
        name_(std::move(name)),
        fused_(lower(region, at, Gathers::written)),
        loops_(make_loops()),
        code_(graph_, fused_, loops_, index_names(loops_.size())) {
    refuse_small_outputs(at);
    threads_ = parameters.is_auto("block") ? 256 : parameters.number("block");
    items_ = parameters.number("items");
    code_.set_width(parameters.is_auto("vector") ? chosen_width() : checked_width(parameters));
    groups_ = product_of_sizes(loops_) / code_.width();
    code_.set_wide(code_.reaches_far() || groups_ + threads_ * items_ >= std::int64_t{1} << 31);
  }

  WrittenGroup write() {
    WrittenGroup group;
    group.headers = code_.headers();
    const std::int64_t a_block = threads_ * items_;
    group.launches.push_back({name_,
                              {std::max<std::int64_t>(1, (groups_ + a_block - 1) / a_block), 1, 1},
                              {threads_, 1, 1},
                              0,
                              code_.arguments()});
    group.code = kernel();
    group.parameters = {{"block", std::to_string(threads_)},
                        {"items", std::to_string(items_)},
                        {"vector", std::to_string(code_.width())}};
    return group;
  }

 private:
  static std::vector<std::string> index_names(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("i{}", i));
    return names;
  }

  //! Through everything that is read and written, in the order in which the first output lies in memory.
  std::vector<Loop> make_loops() {
    const std::vector<Affine> places = fused_.places();
    std::set<int> atoms = fused_.positions();
    const std::set<int> apart = atoms;
    for (const Affine& place : places)
      for (const auto& [atom, factor] : place.factors) atoms.insert(atom);
    auto loops = joined_loops(fused_.atoms, in_memory_order(fused_.outputs.front().place, atoms), places, apart);
    if (loops.empty()) loops.push_back({1, {fused_.atoms.add(1)}});
    return loops;
  }

  void refuse_small_outputs(SourcePosition at) const {
    for (const FusedTerms::Output& output : fused_.outputs) {
      if (graph_.values[output.value].meta.numel() == product_of_sizes(loops_)) continue;
      reject(Status::plan_error, at,
             fmt::format("{} must be written, but is smaller than {}: fuse them apart",
                         quoted(graph_.values[output.value].name),
                         quoted(graph_.values[fused_.outputs.front().value].name)));
    }
  }

  //! Gathers are made one by one: where nothing else is read, neighbouring threads had better take neighbours.
  std::int64_t chosen_width() const {
    const FusedTerms::Output& first = fused_.outputs.front();
    const std::int64_t width = code_.widest(first.value, first.place);
    const auto gathers = [](const Term& term) { return term.kind == TermKind::gather; };
    const auto loads = [&](const Term& term) {
      return term.kind == TermKind::load && code_.fits(term.value, term.place, width);
    };
    return std::ranges::any_of(fused_.terms, gathers) && std::ranges::none_of(fused_.terms, loads) ? 1 : width;
  }

  std::int64_t checked_width(const ParameterValues& parameters) const {
    const std::int64_t width = parameters.number("vector");
    const FusedTerms::Output& first = fused_.outputs.front();
    if (width > 1 && !code_.fits(first.value, first.place, width))
      reject(Status::plan_error, parameters.at("vector"), code_.why_unfit(first.value, first.place, width));
    return width;
  }

  std::string kernel() {
    std::string text = fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n", threads_, name_,
                                   fmt::join(code_.parameters(), ", "));
    const std::string first = fmt::format("static_cast<{}>(blockIdx.x) * {}{} + threadIdx.x", code_.index_type(),
                                          threads_ * items_, code_.suffix());
    if (items_ == 1)
      return text + fmt::format("  const {} i = {};\n", code_.index_type(), first) + guard("return") + body("  ") +
             "}\n";
    text += fmt::format("#pragma unroll\n  for (int item = 0; item < {}; ++item) {{\n", items_);
    text += fmt::format("    const {} i = {} + item * {}{};\n", code_.index_type(), first, threads_, code_.suffix());
    return text + "  " + guard("break") + body("    ") + "  }\n}\n";
  }

  std::string guard(std::string_view leave) const {
    if (groups_ > 0 && groups_ % (threads_ * items_) == 0) return {};
    return fmt::format("  if (i >= {}{}) {};\n", groups_, code_.suffix(), leave);
  }

  std::string body(const std::string& indent) {
    if (groups_ == 0) return {};  // nobody is there
    std::vector<Loop> groups = loops_;
    groups.back().size /= code_.width();
    std::string text = index_statements(groups, index_names(groups.size()), "i", code_.is_wide(), indent);
    for (std::size_t i = 0; i < fused_.terms.size(); ++i)
      if (fused_.terms[i].kind == TermKind::load) text += code_.load_before(static_cast<int>(i), indent);
    if (code_.width() == 1) return text + elements(indent);
    std::string before, after;
    for (std::size_t i = 0; i < fused_.outputs.size(); ++i) {
      if (!code_.output_is_vector(i)) continue;
      before += code_.vector_variable(i, indent);
      after += code_.store_vector(i, indent);
    }
    return fmt::format("{}{}#pragma unroll\n{}for (int e = 0; e < {}; ++e) {{\n{}{}}}\n{}", text, before, indent,
                       code_.width(), elements(indent + "  "), indent, after);
  }

  //! Computes one element of each output and stores it, or keeps it among its neighbours.
  std::string elements(const std::string& indent) {
    ElementCode code(
        fused_, [this](int term) { return given(term); }, indent);
    std::string stores;
    for (std::size_t i = 0; i < fused_.outputs.size(); ++i) {
      const FusedTerms::Output& output = fused_.outputs[i];
      const std::string value = code[output.term];
      stores += code_.output_is_vector(i)
                    ? fmt::format("{}o{}[e] = {};\n", indent, i, stored(value, graph_.values[output.value].meta.dtype))
                    : code_.store_element(i, value, indent);
    }
    return code.text() + stores;
  }

  std::optional<std::string> given(int index) const {
    if (fused_.terms[index].kind == TermKind::map) return std::nullopt;
    return code_.element(index, fmt::format("v{}", index));
  }

  const OpGraph& graph_;
  std::string name_;
  FusedTerms fused_;
  std::vector<Loop> loops_;
  AccessCode code_;
  std::int64_t threads_ = 256, items_ = 1;
  std::int64_t groups_ = 0;  //!< of neighbours: one is what a thread computes at a time
};

}  // namespace

const TechniqueDescription& PointwiseFusion::description() const {
  static const TechniqueDescription description = {
      "pointwise",
      "fuse",
      "One kernel computes any number of nodes whose elements depend on one element of each argument (arithmetic, "
      "activations, comparisons, casts, copies into another layout or shape, cat, stack, pad, flip, roll, repeat, "
      "lookups by an index, constants), with broadcasting. What only these nodes need is never stored.",
      "Chains of small operations: each node less saves a launch and a pass through memory.",
      "Copies between layouts: what lies side by side in one tensor is far apart in another; and what moves along the "
      "innermost dimension (cat, pad, roll), which is read element by element. Leave those alone, or to the library.",
      "fuse add_1 relu_1 mul_1 : vector=4",
      {{"vector", "neighbouring elements that a thread loads at once", {"auto", "1", "2", "4", "8"}},
       {"items", "such groups of neighbours a thread", {"1", "2", "4", "8"}},
       {"block", "threads of a block", {"auto", "64", "128", "256", "512", "1024"}}}};
  return description;
}

bool PointwiseFusion::is_for(const Region& region) const {
  const auto& nodes = region.computing_nodes();
  return !nodes.empty() &&
         std::ranges::all_of(nodes, [&](int node) { return is_pointwise(region.graph().nodes[node]); });
}

WrittenGroup PointwiseFusion::write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                                    const std::string& name) const {
  return PointwiseKernel(region, parameters, at, name).write();
}

}  // namespace cudal1
