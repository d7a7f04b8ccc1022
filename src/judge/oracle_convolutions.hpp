// The oracle's convolutions on a GPU: by a kernel of our own, which is checked, since everything is judged by it.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/executor.hpp"
#include "judge/convolution_walk.hpp"
#include "judge/walk_device.hpp"

namespace cudal1 {

class OracleConvolutions {
 public:
  //! Where walks over this tensor run; null where they do not.
  using DeviceOf = std::function<std::shared_ptr<WalkDevice>(const at::Tensor&)>;

  //! The walk wherever it is right, or the operator where that was faster the second time that a node was computed.
  enum class Choice { the_walk, the_faster };

  //! For nodes of this graph, which must stay where it is.
  OracleConvolutions(const OpGraph& graph, DeviceOf device_of, Choice choice);

  //! With results of the strides that the graph says. The first time a node is computed in both ways, and compared;
  //! the second time also to see which is faster. Nothing for other nodes than convolutions, other
  //! tensors than fp64 ones that walks reach, and nodes whose walk was wrong or slow.
  std::optional<std::vector<at::Tensor>> operator()(const Node& node, const AtenCall& call, const TensorTable& values);

  //! Names of nodes that were computed wrong, and are left to their operators.
  const std::set<std::string>& distrusted() const { return distrusted_; }

  //! For one executor, on GPUs that walk (walk_device.hpp).
  static Substitute substitute_for(const OpGraph& graph);

 private:
  std::vector<at::Tensor> first_results(const Node& node, const AtenCall& call, const TensorTable& values,
                                        const Convolution& convolution, const at::Tensor& found);
  std::vector<at::Tensor> second_results(const Node& node, const AtenCall& call, const TensorTable& values,
                                         const Convolution& convolution, WalkDevice& device);
  std::vector<at::Tensor> as_the_graph_says(const Node& node, const at::Tensor& result) const;

  const OpGraph& graph_;
  DeviceOf device_of_;
  Choice choice_;
  std::set<std::string> trusted_, distrusted_, compared_, slow_;
};

}  // namespace cudal1
