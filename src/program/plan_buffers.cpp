#include <algorithm>
#include <cstdint>

#include "program/plan.hpp"

namespace cudal1 {
namespace {

std::vector<int> mentioned(const Plan& plan, const OpStep& step) {
  std::vector<ValueId> values = OpGraph::reads(step.node);
  values.insert(values.end(), step.node.outputs.begin(), step.node.outputs.end());
  std::vector<int> buffers;
  for (const ValueId id : values)
    if (id >= 0) buffers.push_back(plan.values[static_cast<std::size_t>(id)].buffer);
  return buffers;
}

std::vector<int> mentioned(const Plan&, const LaunchStep& step) {
  std::vector<int> buffers;
  for (const KernelArgument& argument : step.args)
    if (const auto* tensor = std::get_if<TensorRef>(&argument)) buffers.push_back(tensor->buffer);
  return buffers;
}

std::vector<int> mentioned(const Plan&, const ZeroStep& step) { return {step.buffer}; }

}  // namespace

std::vector<int> buffers_of(const Plan& plan, const Step& step) {
  std::vector<int> buffers = std::visit([&](const auto& kind) { return mentioned(plan, kind); }, step);
  std::erase_if(buffers, [](int buffer) { return buffer < 0; });  // outputs of a node that nobody needs
  std::ranges::sort(buffers);
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());  // clang 14 lacks that of ranges
  return buffers;
}

bool is_whole(const TensorRef& ref, const Buffer& buffer) { return ref.byte_offset == 0 && ref.meta == buffer.meta; }

std::vector<std::size_t> last_uses(const Plan& plan) {
  std::vector<std::size_t> last(plan.buffers.size(), 0);
  for (std::size_t i = 0; i < plan.call.size(); ++i)
    for (const int buffer : buffers_of(plan, plan.call[i])) last[static_cast<std::size_t>(buffer)] = i;
  for (const ValueId id : plan.outputs)
    if (const int buffer = plan.values[static_cast<std::size_t>(id)].buffer; buffer >= 0)
      last[static_cast<std::size_t>(buffer)] = SIZE_MAX;
  return last;
}

}  // namespace cudal1
