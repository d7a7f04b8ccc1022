#include "graph/gpu_deviation.hpp"

#include "graph/operator_name.hpp"

namespace cudal1 {

void underflow_as_on_gpu(const Node& node, std::vector<at::Tensor>& results) {
  constexpr double smallest_with_normal_square = 0x1p-63;
  const std::string_view name = base_name(node.op);
  if ((name != "std" && name != "std_mean") || results.empty() || results[0].scalar_type() != at::kFloat) return;
  const at::Tensor& deviation = results[0];
  results[0] = deviation.square().sqrt().where(deviation.lt(smallest_with_normal_square), deviation);
}

}  // namespace cudal1
