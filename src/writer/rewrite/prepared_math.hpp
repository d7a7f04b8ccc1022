// Nodes that compute new weights of old ones when weights change.
#pragma once

#include <string>

#include "writer/draft.hpp"

namespace cudal1 {

class PreparedMath {
 public:
  //! New nodes come before this one and are named after it.
  PreparedMath(Draft& draft, std::string node) : draft_(draft), node_(std::move(node)) {}

  //! `op` of two tensors that broadcast, or of a tensor and a number; contiguous unless the first has the result's sizes.
  ValueId binary(const char* op, std::string_view suffix, ValueId first, const Argument& second);
  ValueId unary(const char* op, std::string_view suffix, ValueId argument);
  ValueId zeros(std::string_view suffix, DType dtype, std::int64_t size);
  //! A sum or mean over one dimension, which stays with size 1.
  ValueId reduced(const char* op, std::string_view suffix, ValueId value, std::size_t dimension);
  //! The sum over all dimensions from this one on, which go.
  ValueId summed_from(std::string_view suffix, ValueId value, std::size_t dimension);
  //! (rows, inner) x (inner, columns), or x (inner).
  ValueId product(std::string_view suffix, ValueId first, ValueId second);
  //! A contiguous tensor, or one element of it for all, with this size in one dimension and 1 in the others.
  ValueId along(std::string_view suffix, ValueId vector, std::size_t rank, std::size_t dimension);
  //! Rows and columns changed.
  ValueId transposed(std::string_view suffix, ValueId matrix);
  //! In this layout: the same elements, these strides.
  ValueId copied(std::string_view suffix, ValueId value, const char* memory_format,
                 const std::vector<std::int64_t>& strides);

 private:
  const TensorMeta& meta(ValueId value) const { return draft_.graph.values[value].meta; }
  Node node(std::string_view suffix, const char* op, std::vector<Argument> args) const;
  ValueId add(Node made, const TensorMeta& meta);
  int position() const { return draft_.graph.find_node(node_); }

  Draft& draft_;
  std::string node_;
};

//! Sizes of what two tensors broadcast to.
std::vector<std::int64_t> broadcast_sizes(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b);

}  // namespace cudal1
