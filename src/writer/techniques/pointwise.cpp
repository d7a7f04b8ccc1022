#include "writer/techniques/pointwise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "program/rejection.hpp"
#include "writer/fused/element_code.hpp"
#include "writer/fused/loops.hpp"
#include "writer/fused/lowering.hpp"
#include "writer/fused/operator_rules.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t access_bytes = 16;
constexpr std::int64_t narrow_limit = std::int64_t{1} << 31;  // indices below it fit 32 bits, sums of two as well

//! One tensor at its place: read as a term, or written as an output.
struct Access {
  ValueId value = -1;
  Affine place;
};

class PointwiseKernel {
 public:
  PointwiseKernel(const Region& region, const ParameterValues& parameters, SourcePosition at, std::string name)
      : graph_(region.graph()), at_(at), name_(std::move(name)), fused_(Lowering(region, at).run()) {
    make_loops();
    threads_ = parameters.is_auto("block") ? 256 : parameters.number("block");
    items_ = parameters.number("items");
    vector_ = parameters.is_auto("vector") ? widest_vector() : checked_vector(parameters);
    groups_ = product_of_sizes(loops_) / vector_;
    wide_ = needs_wide_indices();
  }

  WrittenGroup write() {
    WrittenGroup group;
    group.headers = {"cudal1/math.cuh", "cudal1/vector.cuh"};
    for (const ValueId value : tensors())
      if (const std::string header = header_for(meta(value).dtype); !header.empty()) group.headers.insert(header);
    WrittenLaunch launch;
    launch.kernel = name_;
    launch.block = {threads_, 1, 1};
    launch.grid = {std::max<std::int64_t>(1, (groups_ + threads_ * items_ - 1) / (threads_ * items_)), 1, 1};
    for (const ValueId value : tensors()) launch.arguments.push_back(directive_name(graph_.values[value]));
    group.launches.push_back(std::move(launch));
    group.code = kernel();
    return group;
  }

 private:
  const TensorMeta& meta(ValueId value) const { return graph_.values[value].meta; }

  std::vector<Affine> places() const {
    std::vector<Affine> all;
    for (const FusedTerms::Output& output : fused_.outputs) all.push_back(output.place);
    for (const Term& term : fused_.terms)
      if (term.kind == TermKind::load) all.push_back(term.place);
    return all;
  }

  void make_loops() {
    std::set<int> atoms, apart;
    for (const Affine& place : places())
      for (const auto& [atom, factor] : place.factors) atoms.insert(atom);
    for (const Term& term : fused_.terms) {
      if (term.kind != TermKind::position) continue;
      for (const auto& [atom, factor] : term.place.factors) apart.insert(atom);
    }
    atoms.insert(apart.begin(), apart.end());
    loops_ = joined_loops(fused_.atoms, in_memory_order(fused_.outputs.front().place, atoms), places(), apart);
    if (loops_.empty()) loops_.push_back({1, {fused_.atoms.add(1)}});
    for (std::size_t i = 0; i < loops_.size(); ++i) names_.push_back(fmt::format("i{}", i));
  }

  //! May this access move `width` neighbours at once?
  bool fits_vector(const Access& access, std::int64_t width) const {
    const Loop& inner = loops_.back();
    if (inner.stride_of(access.place) != 1 || inner.size % width != 0 || access.place.offset % width != 0) return false;
    const auto& view = graph_.values[access.value].view;
    if (view && view->offset_elements % width != 0) return false;
    return std::ranges::all_of(access.place.factors, [&](const auto& entry) {
      return entry.second % width == 0 || std::ranges::find(inner.atoms, entry.first) != inner.atoms.end();
    });
  }

  Access first_output() const { return {fused_.outputs.front().value, fused_.outputs.front().place}; }

  std::int64_t widest_vector() const {
    std::int64_t largest = 1;
    for (const ValueId value : tensors()) largest = std::max(largest, size_in_bytes(meta(value).dtype));
    std::int64_t width = access_bytes / largest;
    while (width > 1 && !fits_vector(first_output(), width)) width /= 2;
    return width;
  }

  std::int64_t checked_vector(const ParameterValues& parameters) const {
    const std::int64_t width = parameters.number("vector");
    if (width > 1 && !fits_vector(first_output(), width))
      reject(Status::plan_error, parameters.at("vector"),
             fmt::format("vector={} does not divide the {} elements of {} that lie side by side", width,
                         loops_.back().size, quoted(graph_.values[first_output().value].name)));
    return width;
  }

  bool needs_wide_indices() const {
    if (groups_ + threads_ * items_ >= narrow_limit) return true;
    const auto is_far = [&](const Affine& place) { return fused_.atoms.largest(place) >= narrow_limit; };
    const auto all = places();
    return std::ranges::any_of(all, is_far);
  }

  //! What is read, then what is written.
  std::vector<ValueId> tensors() const {
    std::vector<ValueId> values = fused_.reads();
    for (const FusedTerms::Output& output : fused_.outputs) values.push_back(output.value);
    return values;
  }

  std::string parameter(ValueId value, bool is_read) const {
    return fmt::format("{}{}* __restrict__ {}", is_read ? "const " : "", cuda_element_name(meta(value).dtype),
                       variable(value));
  }

  //! Prefixed, so that no tensor's name is one of the kernel's own or of CUDA.
  std::string variable(ValueId value) const { return "p_" + code_name(graph_.values[value].name); }

  std::string_view suffix() const { return wide_ ? "ull" : "u"; }

  //! Where the first of a thread's neighbours lies.
  std::string place_of_first(const Affine& place) const {
    std::vector<std::string> names = names_;
    if (vector_ > 1) names.back() = fmt::format("({}{} * {})", vector_, suffix(), names.back());
    return place_text(place, loops_, names, suffix());
  }

  std::string kernel() {
    std::vector<std::string> parameters;
    const std::size_t reads = fused_.reads().size();
    for (const ValueId value : tensors()) parameters.push_back(parameter(value, parameters.size() < reads));
    const std::string_view type = wide_ ? "unsigned long long" : "unsigned";
    std::string text = fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n", threads_, name_,
                                   fmt::join(parameters, ", "));
    const std::string first =
        fmt::format("static_cast<{}>(blockIdx.x) * {}{} + threadIdx.x", type, threads_ * items_, suffix());
    if (items_ == 1) {
      text += fmt::format("  const {} i = {};\n", type, first) + guard("return") + body("  ") + "}\n";
      return text;
    }
    text += "#pragma unroll\n";
    text += fmt::format("  for (int item = 0; item < {}; ++item) {{\n", items_);
    text += fmt::format("    const {} i = {} + item * {}{};\n", type, first, threads_, suffix());
    return text + guard("break") + body("    ") + "  }\n}\n";
  }

  std::string guard(std::string_view leave) const {
    if (groups_ > 0 && groups_ % (threads_ * items_) == 0) return {};
    return fmt::format("  if (i >= {}{}) {};\n", groups_, suffix(), leave);
  }

  std::string body(const std::string& indent) {
    std::vector<Loop> groups = loops_;
    groups.back().size /= vector_;
    std::string text = groups_ > 0 ? index_statements(groups, names_, "i", wide_, indent) : "";
    if (groups_ == 0) return text;
    for (std::size_t i = 0; i < fused_.terms.size(); ++i)
      if (fused_.terms[i].kind == TermKind::load) text += load_before(static_cast<int>(i), indent);
    return text + (vector_ == 1 ? elements(indent, true) : vector_elements(indent));
  }

  bool is_vector(const Term& term) const { return vector_ > 1 && fits_vector({term.value, term.place}, vector_); }

  //! Loads that serve all of a thread's neighbours.
  std::string load_before(int index, const std::string& indent) const {
    const Term& term = fused_.terms[index];
    if (is_vector(term))
      return fmt::format("{}const auto v{} = cudal1::load<{}>({} + {});\n", indent, index, vector_,
                         variable(term.value), place_of_first(term.place));
    if (loops_.back().stride_of(term.place) != 0 && vector_ > 1) return {};
    return fmt::format("{}const auto v{} = {}[{}];\n", indent, index, variable(term.value), place_of_first(term.place));
  }

  std::string leaf(int index) const {
    const Term& term = fused_.terms[index];
    const std::int64_t stride = loops_.back().stride_of(term.place);
    const bool moves = vector_ > 1 && stride != 0;
    const std::string further =
        moves ? fmt::format(" + {}", stride == 1 ? "e" : fmt::format("{} * e", stride)) : std::string();
    if (term.kind == TermKind::position)
      return fmt::format("static_cast<long long>({}){}", position_text(term.place), further);
    const DType dtype = meta(term.value).dtype;
    if (is_vector(term)) return loaded(fmt::format("v{}[e]", index), dtype);
    if (!moves) return loaded(fmt::format("v{}", index), dtype);
    return loaded(fmt::format("{}[{}{}]", variable(term.value), place_of_first(term.place), further), dtype);
  }

  //! Signed, since differences of indices may be negative.
  std::string position_text(const Affine& index) const {
    std::vector<std::string> names = names_;
    if (vector_ > 1) names.back() = fmt::format("({}{} * {})", vector_, suffix(), names.back());
    for (std::string& name : names) name = fmt::format("static_cast<long long>({})", name);
    return place_text(index, loops_, names, "ll");
  }

  //! Computes one element and stores it, or keeps it among its neighbours.
  std::string elements(const std::string& indent, bool store_at_once) {
    ElementCode code(
        fused_, [this](int term) { return leaf(term); }, indent);
    std::string stores;
    for (std::size_t i = 0; i < fused_.outputs.size(); ++i) {
      const FusedTerms::Output& output = fused_.outputs[i];
      const std::string value = stored(code[output.term], meta(output.value).dtype);
      const bool kept = !store_at_once && fits_vector({output.value, output.place}, vector_);
      const std::int64_t stride = loops_.back().stride_of(output.place);
      const std::string further = store_at_once || stride == 0 ? "" : fmt::format(" + {} * e", stride);
      stores += kept ? fmt::format("{}o{}[e] = {};\n", indent, i, value)
                     : fmt::format("{}{}[{}{}] = {};\n", indent, variable(output.value), place_of_first(output.place),
                                   further, value);
    }
    return code.text() + stores;
  }

  std::string vector_elements(const std::string& indent) {
    std::string before, after;
    for (std::size_t i = 0; i < fused_.outputs.size(); ++i) {
      const FusedTerms::Output& output = fused_.outputs[i];
      if (!fits_vector({output.value, output.place}, vector_)) continue;
      before += fmt::format("{}cudal1::Vector<{}, {}> o{};\n", indent, cuda_element_name(meta(output.value).dtype),
                            vector_, i);
      after += fmt::format("{}cudal1::store({} + {}, o{});\n", indent, variable(output.value),
                           place_of_first(output.place), i);
    }
    return fmt::format("{}#pragma unroll\n{}for (int e = 0; e < {}; ++e) {{\n{}{}}}\n{}", before, indent, vector_,
                       elements(indent + "  ", false), indent, after);
  }

  const OpGraph& graph_;
  SourcePosition at_;
  std::string name_;
  FusedTerms fused_;
  std::vector<Loop> loops_;
  std::vector<std::string> names_;
  std::int64_t threads_ = 256, items_ = 1, vector_ = 1;
  std::int64_t groups_ = 0;  //!< of `vector_` neighbours: one is what a thread computes at a time
  bool wide_ = false;
};

}  // namespace

const TechniqueDescription& PointwiseFusion::description() const {
  static const TechniqueDescription description = {
      "pointwise",
      "fuse",
      "One kernel computes any number of nodes whose elements depend on one element of each argument (arithmetic, "
      "activations, comparisons, casts, copies into another layout), with broadcasting. What only these nodes need is "
      "never stored.",
      "Chains of small operations: each node less saves a launch and a pass through memory.",
      "Copies between layouts: what lies side by side in one tensor is far apart in another. Leave those alone, or to "
      "the library.",
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
