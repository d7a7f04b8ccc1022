#include "writer/products/product_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "program/unit_order.hpp"

namespace cudal1 {
namespace {

std::vector<Loop> joined(std::vector<Loop> first, const std::vector<Loop>& second, const std::vector<Loop>& third) {
  first.insert(first.end(), second.begin(), second.end());
  first.insert(first.end(), third.begin(), third.end());
  return first;
}

//! Never none, so that there is always an index.
std::vector<Loop> loops_of(FusedTerms& fused, const std::vector<int>& atoms) {
  auto loops = joined_loops(fused.atoms, fused.atoms.parts_of(atoms), fused.places(), fused.positions());
  if (loops.empty()) loops.push_back({1, {fused.atoms.add(1)}});
  return loops;
}

//! Lowers one operand with loops of its own.
class OperandMaker {
 public:
  OperandMaker(const Region& region, const ProductNode& node, SourcePosition at)
      : graph_(region.graph()), node_(node), lowering_(region, at) {}

  ProductOperand make(ValueId value, const std::vector<int>& dimensions, std::size_t first_line, std::size_t lines) {
    std::vector<int> batch_atoms, line_atoms, depth_atoms, none;
    Point result;
    const std::vector<std::int64_t>& sizes = graph_.values[node_.value].meta.sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const bool is_batch = i < node_.batch_dimensions, is_line = i >= first_line && i < first_line + lines;
      result.push_back(is_batch || is_line ? lowering_.loop(sizes[i], is_batch ? batch_atoms : line_atoms) : Affine{});
    }
    const Affine depth = lowering_.loop(node_.depth, depth_atoms);
    ProductOperand made;
    made.term = lowering_.value_at(value, ProductNode::point_of(dimensions, result, depth));
    made.fused = lowering_.finished();
    made.batches = loops_of(made.fused, batch_atoms);
    made.lines = loops_of(made.fused, line_atoms);
    made.depth = loops_of(made.fused, depth_atoms);
    find_layout(made, graph_.values[value].meta.dtype);
    return made;
  }

 private:
  //! `dtype`: of what is multiplied. Loads widen by themselves what a cast would, but not those that copy.
  void find_layout(ProductOperand& made, DType dtype) const {
    const int main = made.load().kind == TermKind::load ? made.term : first_load(made.fused);
    if (main < 0) return;
    const Affine& place = made.fused.terms[main].place;
    const std::int64_t line = made.lines.back().stride_of(place), depth = made.depth.back().stride_of(place);
    made.along_depth = depth == 1 || line != 1;
    if (made.depth.back().size == 1 && line == 1) made.along_depth = false;
    made.stride = made.along_depth ? line : depth;
    const bool side_by_side = (made.along_depth ? depth : line) == 1 || node_.depth == 1;
    const bool as_stored = graph_.values[made.fused.terms[main].value].meta.dtype == dtype;
    made.is_direct =
        main == made.term && as_stored && made.lines.size() == 1 && made.depth.size() == 1 && side_by_side;
    if (made.is_direct) made.vector = widest(made, main);
  }

  static int first_load(const FusedTerms& fused) {
    for (std::size_t i = 0; i < fused.terms.size(); ++i)
      if (fused.terms[i].kind == TermKind::load) return static_cast<int>(i);
    return -1;
  }

  //! Lines that end in between are no hindrance: what is missing is not copied.
  std::int64_t widest(const ProductOperand& made, int main) const {
    const Term& load = made.fused.terms[main];
    const Value& value = graph_.values[load.value];
    const std::int64_t offset = load.place.offset + (value.view ? value.view->offset_elements : 0);
    std::int64_t width = 16 / size_in_bytes(value.meta.dtype);
    const auto fits = [&] {
      if (offset % width != 0 || made.stride % width != 0) return false;
      return std::ranges::all_of(made.batches,
                                 [&](const Loop& loop) { return loop.stride_of(load.place) % width == 0; });
    };
    while (width > 1 && !fits()) width /= 2;
    return width;
  }

  const OpGraph& graph_;
  const ProductNode& node_;
  Lowering lowering_;
};

//! Finds the product's dimensions in the loops of what follows it.
class ResultsMaker {
 public:
  ResultsMaker(const OpGraph& graph, const ProductNode& node, FusedTerms fused, const Point& sums, SourcePosition at)
      : graph_(graph), node_(node), sums_(sums), at_(at) {
    made_.fused = std::move(fused);
    if (node.groups > 1) split_groups();
  }

  ProductResults make() {
    auto atoms = atoms_by_dimension();
    if (node_.groups > 1) make_batches_of_groups(atoms);
    refuse_other_loops(joined_atoms(atoms, 0, atoms.size()));
    const std::size_t rows = node_.batch_dimensions, columns = rows + node_.row_dimensions;
    made_.batches = loops_of(made_.fused, joined_atoms(atoms, 0, rows));
    made_.rows = loops_of(made_.fused, joined_atoms(atoms, rows, columns));
    made_.columns = loops_of(made_.fused, joined_atoms(atoms, columns, atoms.size()));
    return std::move(made_);
  }

 private:
  std::int64_t rows_of_a_group() const {
    return graph_.values[node_.value].meta.sizes[node_.batch_dimensions] / node_.groups;
  }

  //! Such that no atom counts through rows of several groups.
  void split_groups() {
    const std::int64_t rows = rows_of_a_group();
    for (const auto& [atom, factor] : sums_[node_.batch_dimensions].factors) {
      const std::int64_t size = made_.fused.atoms.size(atom);
      if (factor >= rows || factor * size <= rows) continue;
      if (rows % factor != 0 || size % (rows / factor) != 0) refuse_part();
      made_.fused.atoms.split(atom, rows / factor);
    }
    made_.fused.resolve();
    sums_ = made_.fused.atoms.resolved(sums_);
  }

  void make_batches_of_groups(std::vector<std::vector<int>>& atoms) const {
    std::vector<int>& rows = atoms[node_.batch_dimensions];
    const auto is_of_rows = [&](int atom) {
      return sums_[node_.batch_dimensions].factor_of(atom) < rows_of_a_group();
    };
    const auto first_row = std::ranges::find_if(rows, is_of_rows);
    std::vector<int>& batches = atoms[node_.batch_dimensions - 1];
    batches.insert(batches.end(), rows.begin(), first_row);
    rows.erase(rows.begin(), first_row);
  }

  //! Outermost first. Together they must count through the dimension.
  std::vector<std::vector<int>> atoms_by_dimension() const {
    std::vector<std::vector<int>> all;
    const std::vector<std::int64_t>& sizes = graph_.values[node_.value].meta.sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      auto factors = sums_[i].factors;
      std::ranges::sort(factors, std::greater<>{}, &std::pair<int, std::int64_t>::second);
      std::int64_t inside = 1;
      all.emplace_back();
      for (auto at = factors.rbegin(); at != factors.rend(); ++at) {
        if (at->second != inside) refuse_part();
        inside *= made_.fused.atoms.size(at->first);
        all.back().insert(all.back().begin(), at->first);
      }
      if (inside != sizes[i] || sums_[i].offset != 0) refuse_part();
    }
    return all;
  }

  void refuse_other_loops(const std::vector<int>& atoms) const {
    for (const Affine& place : made_.fused.places())
      for (const auto& [atom, factor] : place.factors)
        if (std::ranges::find(atoms, atom) == atoms.end()) refuse_part();
  }

  [[noreturn]] void refuse_part() const {
    reject(Status::plan_error, at_,
           fmt::format("the results use a part of the product {} in an order of its own; fuse them apart",
                       quoted(graph_.values[node_.value].name)));
  }

  static std::vector<int> joined_atoms(const std::vector<std::vector<int>>& atoms, std::size_t from, std::size_t to) {
    std::vector<int> all;
    for (std::size_t i = from; i < to; ++i) all.insert(all.end(), atoms[i].begin(), atoms[i].end());
    return all;
  }

  const OpGraph& graph_;
  const ProductNode& node_;
  Point sums_;
  SourcePosition at_;
  ProductResults made_;
};

DType operand_dtype(const OpGraph& graph, const ProductNode& node, SourcePosition at) {
  const DType dtype = graph.values[node.left].meta.dtype;
  const bool known = dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
  if (!known || graph.values[node.right].meta.dtype != dtype)
    reject(Status::plan_error, at,
           fmt::format("{} multiplies {} and {}; products are written of two fp32, fp16 or bf16 tensors",
                       quoted(graph.values[node.value].name), to_string(dtype),
                       to_string(graph.values[node.right].meta.dtype)));
  return dtype;
}

}  // namespace

std::vector<Loop> ProductOperand::loops() const { return joined(batches, lines, depth); }
std::vector<Loop> ProductResults::loops() const { return joined(batches, rows, columns); }

ProductOperands ProductSpace::operands() const { return {size_in_bytes(dtype), left.along_depth, right.along_depth}; }

ProductNode product_of(const Region& region, SourcePosition at) {
  const auto& nodes = region.computing_nodes();
  const Node& node =
      region.graph()
          .nodes[*std::ranges::find_if(nodes, [&](int index) { return is_product(region.graph().nodes[index]); })];
  const auto product = read_product(region.graph(), node);
  if (!product)
    reject(Status::plan_error, at,
           fmt::format("{} has operands that are no matrices; leave it to the library", quoted(node.name)));
  return *product;
}

void refuse_sizes(const ProductSizes& sizes, const ProductShape& shape, SourcePosition at) {
  constexpr std::int64_t largest_index = (std::int64_t{1} << 31) - 1024;  // tiles reach beyond the end
  const std::int64_t blocks = shape.tiles_down(sizes) * shape.tiles_across(sizes) * sizes.batches;
  if (std::max({sizes.rows, sizes.columns, sizes.depth, blocks}) > largest_index)
    reject(Status::plan_error, at,
           fmt::format("a product of {} rows, {} columns, {} deep and {} times is too large for tiles; leave it to the "
                       "library",
                       sizes.rows, sizes.columns, sizes.depth, sizes.batches));
}

ProductSizes sizes_of(const OpGraph& graph, const ProductNode& node) {
  const std::vector<std::int64_t>& sizes = graph.values[node.value].meta.sizes;
  ProductSizes made;
  made.depth = node.depth;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool is_batch = i < node.batch_dimensions, is_row = i < node.batch_dimensions + node.row_dimensions;
    (is_batch ? made.batches : is_row ? made.rows : made.columns) *= sizes[i];
  }
  return made;
}

ProductResults results_at(const OpGraph& graph, const ProductNode& node, FusedTerms fused, const Point& sums,
                          SourcePosition at) {
  return ResultsMaker(graph, node, std::move(fused), sums, at).make();
}

void take_sums(FusedTerms& fused, ValueId product) {
  for (Term& term : fused.terms)
    if (term.kind == TermKind::load && term.value == product) term = {TermKind::constant, ScalarKind::real, sum_code};
}

void refuse_several_sums(const OpGraph& graph, const ProductNode& node, const std::vector<Point>& sums,
                         SourcePosition at) {
  const std::string name = quoted(graph.values[node.value].name);
  if (sums.empty()) reject(Status::plan_error, at, fmt::format("nothing is computed of the product {}", name));
  if (std::ranges::any_of(sums, [&](const Point& point) { return point != sums.front(); }))
    reject(Status::plan_error, at,
           fmt::format("an element of the results needs two of the product {}, such as of its transpose: fuse them "
                       "apart",
                       name));
}

ProductResults make_product_results(const Region& region, const ProductNode& node, SourcePosition at) {
  const OpGraph& graph = region.graph();
  LoweredAroundProducts lowered = lower_around_products(region, at);
  refuse_several_sums(graph, node, lowered.points, at);
  take_sums(lowered.fused, node.value);
  ProductResults made = results_at(graph, node, std::move(lowered.fused), lowered.points.front(), at);
  for (const FusedTerms::Output& output : made.fused.outputs)
    if (graph.values[output.value].meta.numel() != graph.values[node.value].meta.numel())
      reject(Status::plan_error, at,
             fmt::format("{} must be written, but has not as many elements as the product {}: fuse them apart",
                         quoted(graph.values[output.value].name), quoted(graph.values[node.value].name)));
  return made;
}

void refuse_changed_operands(const OpGraph& graph, const ProductSpace& space, SourcePosition at) {
  for (const ProductOperand* operand : {&space.left, &space.right})
    for (const ValueId read : operand->fused.reads())
      for (const FusedTerms::Output& output : space.results.fused.outputs)
        if (base_of(graph, read) == base_of(graph, output.value))
          reject(Status::plan_error, at,
                 fmt::format("{} is multiplied and changed by the same nodes; fuse them apart",
                             quoted(graph.values[read].name)));
}

ProductSpace make_product_operands(const Region& region, const ProductNode& node, SourcePosition at) {
  ProductSpace space;
  space.node = node;
  space.sizes = sizes_of(region.graph(), node);
  space.dtype = operand_dtype(region.graph(), node, at);
  const std::size_t rows = node.batch_dimensions, columns = rows + node.row_dimensions;
  space.left = OperandMaker(region, node, at).make(node.left, node.left_dimensions, rows, node.row_dimensions);
  space.right = OperandMaker(region, node, at).make(node.right, node.right_dimensions, columns, node.column_dimensions);
  return space;
}

ProductSpace make_product_space(const Region& region, const ProductNode& node, SourcePosition at) {
  ProductSpace space = make_product_operands(region, node, at);
  space.results = make_product_results(region, node, at);
  refuse_changed_operands(region.graph(), space, at);
  return space;
}

}  // namespace cudal1
