// A region with one convolution as a matrix product: rows are output channels, columns places of the output, and the
// depth goes through input channels and the places of a window. Groups of channels are batches, as images are.
//
// Transposed with steps: output o is made of those inputs i and places k of the filter for which
// step · i - padding + k = o. With o + padding = step · q + r these are i = q - t, k = r + step · t for t = 0, 1, … So
// columns are the q, and every channel has a row for each r: all of these see the same inputs. Where the step does not
// divide the filter, some r have one t less. Many channels are then dealt out by r, and each has its own depth; few
// share what they gather, and what is missing is multiplied as zeros.
#pragma once

#include "writer/fused/convolution_arguments.hpp"
#include "writer/products/product_space.hpp"

namespace cudal1 {

//! An operand whose elements lie where a part of the line and a part of the depth say.
struct ConvolutionOperand {
  //! An index that must lie in 0 … size - 1 for there to be an element.
  struct Bound {
    Affine index;
    std::int64_t size = 1;
  };
  ValueId value = -1;
  Affine place;                    //!< without the batch's part
  std::int64_t batch_stride = 0;   //!< elements from one of the batch to the next
  std::int64_t group_stride = 0;   //!< from the channels of one group to those of the next, if there is one
  std::vector<Loop> lines, depth;  //!< never empty
  std::vector<Bound> bounds;       //!< of those indices that can lie beyond the ends
  //! Not 0: the operand is a matrix in memory, of which so many neighbours can be copied at once. They lie along the
  //! depth, or else along the lines; `stride` is the other one's.
  std::int64_t vector = 0;
  std::int64_t stride = 0;
  bool along_depth = false;
};

//! Outputs of a dimension from q and r: step · q + r + offset, where that is less than `size`.
struct ScatteredDimension {
  std::int64_t step = 1, offset = 0, count = 1, size = 1;
};

//! A dimension in which the number of t depends on r: `most` of them for r < `full`, else one less.
struct PhasedDepth {
  std::size_t dim = 0;
  std::int64_t most = 1, full = 1;
};

struct ConvolutionSpace {
  ProductSizes sizes;
  DType dtype = DType::f32;  //!< of the operands
  ConvolutionOperand weight, input;
  ProductResults results;
  std::vector<ScatteredDimension> scattered;  //!< empty: columns are places of the output as they are

  std::vector<PhasedDepth> phased;  //!< not empty: rows are r, then channels; all dimensions with several t
  std::int64_t groups = 1, channels_in = 1, channels_out = 1;  //!< channels: of a group

  std::int64_t phases() const;  //!< rows of a channel
  ProductOperands operands() const;
};

//! Whether there is a convolution that this is good for: not of few channels to few, in no group.
bool is_product_of_windows(const OpGraph& graph, const Node& node);

//! Whether each r has its own rows and depth.
bool is_by_phase(const OpGraph& graph, const ConvolutionNode& node);

//! Throws Rejection at `at` for what cannot be computed tile by tile.
ConvolutionSpace make_convolution_space(const Region& region, const ConvolutionNode& node, SourcePosition at);

}  // namespace cudal1
