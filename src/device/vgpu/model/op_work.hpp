// What a library step has to do, from the operator's name and the shapes: bytes and floating-point operations.
#pragma once

#include <span>
#include <string>

#include "graph/op_graph.hpp"

namespace cudal1::vgpu {

struct OpWork {
  std::string op_class;      //!< "pointwise", "matmul" …; "view" for what is only another way to see a tensor
  double bytes_read = 0;     //!< each input once
  double bytes_written = 0;  //!< each output once
  double flops = 0;          //!< of products; 0 where bytes are all that counts
  double repeats = 1;        //!< of its kernels: time steps of a recurrent layer
};

//! `inputs` are the metas of OpGraph::reads(node), in that order; `outputs` those of node.outputs.
OpWork work_of(const Node& node, std::span<const TensorMeta> inputs, std::span<const TensorMeta> outputs);

}  // namespace cudal1::vgpu
