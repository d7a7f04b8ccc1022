#include "writer/rewrite/prepared_math.hpp"

#include <algorithm>

#include "writer/rewrite/graph_edit.hpp"

namespace cudal1 {

std::vector<std::int64_t> broadcast_sizes(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> sizes = a.size() >= b.size() ? a : b;
  const std::vector<std::int64_t>& shorter = a.size() >= b.size() ? b : a;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = sizes[sizes.size() - shorter.size() + i];
    if (size == 1) size = shorter[i];
  }
  return sizes;
}

Node PreparedMath::node(std::string_view suffix, const char* op, std::vector<Argument> args) const {
  Node made;
  made.name = derived_name(draft_.graph, node_, suffix);
  made.op = op;
  made.args = std::move(args);
  return made;
}

ValueId PreparedMath::add(Node made, const TensorMeta& meta) {
  draft_.hoist(made.name);
  return insert_node(draft_.graph, position(), std::move(made), {meta});
}

ValueId PreparedMath::binary(const char* op, std::string_view suffix, ValueId first, const Argument& second) {
  const auto* other = std::get_if<ValueRef>(&second);
  TensorMeta result = meta(first);
  if (other) result.sizes = broadcast_sizes(result.sizes, meta(other->id).sizes);
  if (result.sizes != meta(first).sizes || result.span_bytes() != result.numel() * size_in_bytes(result.dtype))
    result.strides = contiguous_strides(result.sizes);
  return add(node(suffix, op, {ValueRef{first}, second}), result);
}

ValueId PreparedMath::unary(const char* op, std::string_view suffix, ValueId argument) {
  return add(node(suffix, op, {ValueRef{argument}}), meta(argument));
}

ValueId PreparedMath::zeros(std::string_view suffix, DType dtype, std::int64_t size) {
  Node made = node(suffix, "aten::zeros", {std::vector<std::int64_t>{size}});
  made.kwargs = {{"dtype", DTypeArgument{dtype, false}}};
  return add(std::move(made), {dtype, {size}, {1}});
}

ValueId PreparedMath::reduced(const char* op, std::string_view suffix, ValueId value, std::size_t dimension) {
  TensorMeta result = meta(value);
  result.sizes[dimension] = 1;
  result.strides = contiguous_strides(result.sizes);
  const std::vector<std::int64_t> dimensions{static_cast<std::int64_t>(dimension)};
  return add(node(suffix, op, {ValueRef{value}, dimensions, true}), result);
}

ValueId PreparedMath::summed_from(std::string_view suffix, ValueId value, std::size_t dimension) {
  TensorMeta result = meta(value);
  std::vector<std::int64_t> dimensions;
  for (std::size_t i = dimension; i < result.sizes.size(); ++i) dimensions.push_back(static_cast<std::int64_t>(i));
  result.sizes.resize(dimension);
  result.strides = contiguous_strides(result.sizes);
  return add(node(suffix, "aten::sum.dim_IntList", {ValueRef{value}, dimensions}), result);
}

ValueId PreparedMath::product(std::string_view suffix, ValueId first, ValueId second) {
  const bool is_matrix = meta(second).sizes.size() == 2;
  TensorMeta result{meta(first).dtype, {meta(first).sizes[0]}, {1}};
  if (is_matrix) result.sizes.push_back(meta(second).sizes[1]);
  result.strides = contiguous_strides(result.sizes);
  return add(node(suffix, is_matrix ? "aten::mm" : "aten::mv", {ValueRef{first}, ValueRef{second}}), result);
}

ValueId PreparedMath::along(std::string_view suffix, ValueId vector, std::size_t rank, std::size_t dimension) {
  TensorMeta result{meta(vector).dtype, std::vector<std::int64_t>(rank, 1), {}};
  result.sizes[dimension] = meta(vector).numel();
  result.strides = contiguous_strides(result.sizes);
  Node made = node(suffix, "aten::view", {ValueRef{vector}, result.sizes});
  return insert_view(draft_.graph, position(), std::move(made), result, vector);
}

ValueId PreparedMath::transposed(std::string_view suffix, ValueId matrix) {
  TensorMeta result = meta(matrix);
  std::ranges::reverse(result.sizes);
  std::ranges::reverse(result.strides);
  return insert_view(draft_.graph, position(), node(suffix, "aten::t", {ValueRef{matrix}}), result, matrix);
}

ValueId PreparedMath::copied(std::string_view suffix, ValueId value, const char* memory_format,
                             const std::vector<std::int64_t>& strides) {
  Node made = node(suffix, "aten::clone", {ValueRef{value}});
  made.kwargs = {{"memory_format", std::string(memory_format)}};
  TensorMeta result = meta(value);
  result.strides = strides;
  return add(std::move(made), result);
}

}  // namespace cudal1
