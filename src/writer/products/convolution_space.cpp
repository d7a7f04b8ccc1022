#include "writer/products/convolution_space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/unit_order.hpp"
#include "writer/fused/view_points.hpp"

namespace cudal1 {
namespace {

// Fewer channels of the output leave most of a tile empty, fewer of the input can be summed up by every thread: then
// the direct way is better.
constexpr std::int64_t fewest_outputs = 8, fewest_inputs = 17;
constexpr std::int64_t fewest_rows_of_a_group = 16, fewest_inputs_of_a_group = 8;
constexpr std::int64_t rows_of_a_phase = 64;                    // fewer channels make better tiles of several phases
constexpr std::int64_t near = (std::int64_t{1} << 31) - 65536;  // what an int counts, and some elements more

bool is_multiplied(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

class ConvolutionSpaceMaker {
 public:
  ConvolutionSpaceMaker(const Region& region, const ConvolutionNode& node, SourcePosition at)
      : graph_(region.graph()), node_(node), at_(at) {
    space_.dtype = meta(node.input).dtype;
    space_.results = make_product_results(region, product(), at);
  }

  ConvolutionSpace make() {
    space_.groups = node_.groups;
    space_.channels_in = meta(node_.input).sizes[1] / node_.groups;
    space_.channels_out = meta(node_.value).sizes[1] / node_.groups;
    const Affine outputs = loop(space_.channels_out, rows_), inputs = loop(space_.channels_in, depth_);
    at_input_ = {{}, inputs};
    at_weight_ = node_.is_transposed ? Point{inputs, outputs} : Point{outputs, inputs};
    for (std::size_t dim = 0; dim < node_.sizes.kernel.size(); ++dim)
      node_.is_transposed ? add_transposed(dim) : add_forward(dim);
    if (is_by_phase(graph_, node_)) deal_out_by_phase();
    space_.input = operand(node_.input, at_input_, columns_);
    space_.input.batch_stride = meta(node_.input).strides[0];
    space_.weight = operand(node_.weight, at_weight_, rows_);
    if (node_.groups > 1) step_from_group_to_group();
    if (!space_.phased.empty()) space_.weight.bounds.clear();  // no phase goes beyond its own filter
    find_matrix(space_.weight, rows_);
    find_matrix(space_.input, columns_);
    const auto size = [](const std::vector<Loop>& loops) { return product_of_sizes(loops); };
    space_.sizes = {meta(node_.input).sizes[0] * node_.groups, size(space_.weight.lines), size(space_.input.lines),
                    size(space_.input.depth)};
    return std::move(space_);
  }

 private:
  const TensorMeta& meta(ValueId value) const { return graph_.values[value].meta; }

  ProductNode product() const {
    ProductNode made;
    made.value = node_.value;
    made.batch_dimensions = made.row_dimensions = 1;
    made.groups = node_.groups;
    made.column_dimensions = node_.sizes.kernel.size();
    return made;
  }

  void step_from_group_to_group() {
    const std::int64_t first_of_weight = node_.is_transposed ? space_.channels_in : space_.channels_out;
    space_.input.group_stride = space_.channels_in * meta(node_.input).strides[1];
    space_.weight.group_stride = first_of_weight * meta(node_.weight).strides[0];
  }

  Affine loop(std::int64_t size, std::vector<int>& atoms) {
    Affine index;
    if (size == 1) return index;
    atoms.push_back(atoms_.add(size));
    index.add(atoms.back(), 1);
    return index;
  }

  //! i = stride · o + dilation · k - padding
  void add_forward(std::size_t dim) {
    const Affine output = loop(meta(node_.value).sizes[2 + dim], columns_);
    const Affine inside = loop(node_.sizes.kernel[dim], depth_);
    Affine index{-node_.sizes.padding[dim], {}};
    index.add(output, node_.sizes.stride[dim]);
    index.add(inside, node_.sizes.dilation[dim]);
    at_input_.push_back(index);
    at_weight_.push_back(inside);
  }

  //! i = q - dilation · t, k = r + step · t; only one of dilation and step is not 1.
  void add_transposed(std::size_t dim) {
    const std::int64_t step = node_.sizes.stride[dim], padding = node_.sizes.padding[dim];
    const std::int64_t size = meta(node_.value).sizes[2 + dim], first = padding / step;
    const ScatteredDimension made{step, step * first - padding, (size - 1 + padding) / step - first + 1, size};
    const Affine inside = loop((node_.sizes.kernel[dim] + step - 1) / step, depth_);
    Affine index = loop(made.count, columns_), place = loop(step, rows_);
    index.offset += first;
    index.add(inside, -node_.sizes.dilation[dim]);
    place.add(inside, step);
    at_input_.push_back(index);
    at_weight_.push_back(place);
    space_.scattered.push_back(made);
  }

  void deal_out_by_phase() {
    std::ranges::rotate(rows_, rows_.begin() + 1);  // there are many channels, so they have an atom
    for (std::size_t dim = 0; dim < space_.scattered.size(); ++dim) {
      const std::int64_t kernel = node_.sizes.kernel[dim], step = space_.scattered[dim].step;
      const std::int64_t most = (kernel + step - 1) / step;
      if (most > 1) space_.phased.push_back({dim, most, kernel - step * (most - 1)});
    }
  }

  ConvolutionOperand operand(ValueId value, const Point& point, const std::vector<int>& lines) {
    ConvolutionOperand made;
    made.value = value;
    made.place = memory_place(meta(value), point);
    made.lines = loops_of(lines);
    made.depth = loops_of(depth_);
    for (std::size_t i = 0; i < point.size(); ++i)
      if (atoms_.smallest(point[i]) < 0 || atoms_.largest(point[i]) >= meta(value).sizes[i])
        made.bounds.push_back({point[i], meta(value).sizes[i]});
    if (atoms_.largest(made.place) > near || atoms_.smallest(made.place) < -near)
      reject(Status::plan_error, at_,
             fmt::format("{} is too large to be found by 32-bit places; leave its convolution to the library",
                         quoted(graph_.values[value].name)));
    return made;
  }

  std::vector<Loop> loops_of(const std::vector<int>& atoms) {
    std::vector<Loop> loops;
    for (const int atom : atoms) loops.push_back({atoms_.size(atom), {atom}});
    if (loops.empty()) loops.push_back({1, {atoms_.add(1)}});
    return loops;
  }

  //! A filter that is a row of memory for each output channel; windows of one element.
  void find_matrix(ConvolutionOperand& made, const std::vector<int>& lines) const {
    const std::vector<Loop> down = joined_loops(atoms_, lines, {made.place}, {});
    const std::vector<Loop> deep = joined_loops(atoms_, depth_, {made.place}, {});
    if (!made.bounds.empty() || down.size() > 1 || deep.size() > 1) return;
    const std::int64_t line = down.empty() ? 1 : down.front().stride_of(made.place);
    const std::int64_t depth = deep.empty() ? 1 : deep.front().stride_of(made.place);
    if (line != 1 && depth != 1) return;
    made.along_depth = depth == 1;
    made.stride = made.along_depth ? line : depth;
    made.vector = widest(made);
  }

  //! Lines that end in between are no hindrance: what is missing is not copied.
  std::int64_t widest(const ConvolutionOperand& made) const {
    const Value& value = graph_.values[made.value];
    const std::int64_t offset = made.place.offset + (value.view ? value.view->offset_elements : 0);
    std::int64_t width = 16 / size_in_bytes(value.meta.dtype);
    const auto steps = {offset, made.stride, made.batch_stride, made.group_stride};
    while (std::ranges::any_of(steps, [&](std::int64_t step) { return step % width != 0; })) width /= 2;
    return width;
  }

  const OpGraph& graph_;
  const ConvolutionNode& node_;
  SourcePosition at_;
  AtomTable atoms_;
  std::vector<int> rows_, columns_, depth_;
  Point at_input_, at_weight_;
  ConvolutionSpace space_;
};

bool has_enough_channels(const OpGraph& graph, const ConvolutionNode& node) {
  const std::int64_t inputs = graph.values[node.input].meta.sizes[1], outputs = graph.values[node.value].meta.sizes[1];
  if (node.groups == 1) return outputs >= fewest_outputs || inputs >= fewest_inputs;
  std::int64_t rows = outputs / node.groups;
  for (const std::int64_t step : node.sizes.stride) rows *= node.is_transposed ? step : 1;
  return rows >= fewest_rows_of_a_group && inputs / node.groups >= fewest_inputs_of_a_group;
}

//! A block that writes a state would change what others still read.
void refuse_changed_operands(const OpGraph& graph, const ConvolutionSpace& space, SourcePosition at) {
  for (const ValueId read : {space.weight.value, space.input.value})
    for (const FusedTerms::Output& output : space.results.fused.outputs)
      if (base_of(graph, read) == base_of(graph, output.value))
        reject(Status::plan_error, at,
               fmt::format("{} is convolved and changed by the same nodes; fuse them apart",
                           quoted(graph.values[read].name)));
}

}  // namespace

std::int64_t ConvolutionSpace::phases() const {
  std::int64_t product = 1;
  for (const ScatteredDimension& dim : scattered) product *= dim.step;
  return product;
}

ProductOperands ConvolutionSpace::operands() const {
  const std::int64_t rows_together = phased.empty() ? 0 : channels_out;
  return {size_in_bytes(dtype), weight.along_depth, input.along_depth, false, rows_together, weight.vector == 0};
}

bool is_product_of_windows(const OpGraph& graph, const Node& node) {
  const auto made = read_convolution(graph, node);
  if (!made || made->groups < 1) return false;
  const TensorMeta &input = graph.values[made->input].meta, &value = graph.values[made->value].meta;
  if (!is_multiplied(input.dtype) || graph.values[made->weight].meta.dtype != input.dtype) return false;
  for (std::size_t i = 0; i < made->sizes.kernel.size(); ++i)
    if (made->is_transposed && made->sizes.stride[i] > 1 && made->sizes.dilation[i] > 1) return false;
  return value.numel() > 0 && input.numel() > 0 && has_enough_channels(graph, *made);
}

bool is_by_phase(const OpGraph& graph, const ConvolutionNode& node) {
  if (!node.is_transposed) return false;
  bool divides = true, covers = true;
  for (std::size_t dim = 0; dim < node.sizes.kernel.size(); ++dim) {
    divides &= node.sizes.kernel[dim] % node.sizes.stride[dim] == 0;
    covers &= node.sizes.kernel[dim] >= node.sizes.stride[dim];
  }
  return !divides && covers && graph.values[node.value].meta.sizes[1] / node.groups % rows_of_a_phase == 0;
}

ConvolutionSpace make_convolution_space(const Region& region, const ConvolutionNode& node, SourcePosition at) {
  ConvolutionSpace space = ConvolutionSpaceMaker(region, node, at).make();
  refuse_changed_operands(region.graph(), space, at);
  return space;
}

}  // namespace cudal1
