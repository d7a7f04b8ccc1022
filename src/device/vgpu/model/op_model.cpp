#include "device/vgpu/model/op_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/vgpu/model/gpu_files.hpp"
#include "device/vgpu/model/gpu_number.hpp"
#include "device/vgpu/model/l2_contents.hpp"
#include "device/vgpu/model/memory_traffic.hpp"

namespace cudal1::vgpu {
namespace {

constexpr const char* table_format = "cudal1.op_model";
constexpr std::int64_t table_version = 1;

OpEfficiency efficiency_of(const JsonPlace& place) {
  place.allow_keys({"bandwidth", "compute", "kernels", "start_us", "why"});
  const auto number = [&](const char* key, double most) {
    const double value = place.at(key).number();
    if (!(value > 0 && value <= most))
      place.at(key).fail(fmt::format("expected more than 0 and at most {}, found {}", most, value));
    return value;
  };
  if (place.at("why").text().empty()) place.at("why").fail("say where the numbers come from");
  return {number("bandwidth", 1), number("compute", 1), number("kernels", 1000), number("start_us", 1e6)};
}

struct Unit {
  std::string name;
  double flops_per_second = 0;
};

//! PyTorch's defaults: matrix products of fp32 in fp32, convolutions in TF32.
Unit unit_of(const GpuProfile& gpu, const OpWork& work, DType dtype) {
  const auto rate = [&](double multiply_adds) {
    return 2 * multiply_adds * static_cast<double>(gpu.chip.multiprocessors) * gpu.clocks_per_second();
  };
  const bool dense_convolution = work.op_class.starts_with("convolution") && work.op_class != "convolution_depthwise";
  if (work.op_class == "convolution_depthwise") return {"fp32", rate(gpu.pipes.single)};
  switch (dtype) {
    case DType::f16:
      return {"tensor cores", rate(gpu.tensor.f16)};
    case DType::bf16:
      return {"tensor cores", rate(gpu.tensor.bf16)};
    case DType::i8:
      return {"tensor cores", rate(gpu.tensor.s8)};
    case DType::f64:
      return {"fp64", rate(std::max(gpu.tensor.f64, gpu.pipes.twofold))};
    default:
      return dense_convolution ? Unit{"tensor cores", rate(gpu.tensor.tf32)} : Unit{"fp32", rate(gpu.pipes.single)};
  }
}

std::vector<TensorMeta> metas_of(const OpGraph& graph, const std::vector<ValueId>& ids) {
  std::vector<TensorMeta> metas;
  for (const ValueId id : ids) metas.push_back(graph.values[static_cast<std::size_t>(id)].meta);
  return metas;
}

//! Views lie in the memory of their base.
const std::string& buffer_of(const OpGraph& graph, ValueId id) {
  const Value& value = graph.values[static_cast<std::size_t>(id)];
  return value.view ? graph.values[static_cast<std::size_t>(value.view->base)].name : value.name;
}

}  // namespace

OpTable parse_op_table(std::string_view text, const std::string& file) {
  const nlohmann::json document = parse_json(text, file);
  const JsonPlace root(document, file);
  expect_format(root, table_format, table_version);
  root.allow_keys({"format", "version", "classes"});
  OpTable table;
  for (const auto& [name, ignored] : root.at("classes").json().items())
    table[name] = efficiency_of(root.at("classes").at(name));
  if (!table.contains("other")) root.at("classes").fail("the key \"other\" is missing");
  return table;
}

OpTable load_op_table(const std::string& path) {
  const GpuFile file = read_gpu_file(path);
  return parse_op_table(file.text, file.shown);
}

OpEstimate estimate_op(const GpuProfile& gpu, const OpTable& table, const Node& node,
                       std::span<const TensorMeta> inputs, std::span<const TensorMeta> outputs, double cached_bytes) {
  OpEstimate estimate;
  estimate.work = work_of(node, inputs, outputs);
  const OpWork& work = estimate.work;
  estimate.bound = "launch";
  if (work.op_class == "view") return estimate;
  const auto found = table.find(work.op_class);
  const OpEfficiency& efficiency = found != table.end() ? found->second : table.at("other");

  const double cached = std::min(cached_bytes, work.bytes_read);
  const double cold = work.bytes_read - cached;
  estimate.dram_bytes = cold + written_back(gpu, built_in_model(), cold, work.bytes_written);
  const double dram = estimate.dram_bytes / gpu.dram_achievable_bytes_per_second();
  const double moving = (dram + cached / gpu.memory.l2_bytes_per_second) / efficiency.bandwidth;
  const Unit unit = unit_of(gpu, work, inputs.empty() ? DType::f32 : inputs[0].dtype);
  const double computing = work.flops / unit.flops_per_second / efficiency.compute;
  const double working = std::max(moving, computing) * 1e3;

  estimate.launch_milliseconds =
      (efficiency.kernels * work.repeats * gpu.costs.launch_us + gpu.costs.library_call_us) / 1e3;
  estimate.milliseconds = estimate.launch_milliseconds + efficiency.start_us / 1e3 + working;
  if (working > estimate.launch_milliseconds) estimate.bound = computing > moving ? unit.name : "DRAM bandwidth";
  return estimate;
}

const OpTable& built_in_op_table() {
  static const OpTable table = load_op_table();
  return table;
}

double op_milliseconds(const GpuProfile& gpu, const Node& node, std::span<const TensorMeta> inputs,
                       std::span<const TensorMeta> outputs) {
  return estimate_op(gpu, built_in_op_table(), node, inputs, outputs).milliseconds;
}

double graph_milliseconds(const GpuProfile& gpu, const OpTable& table, const OpGraph& graph) {
  L2Contents l2(gpu);
  double sum = gpu.costs.call_us / 1e3;
  for (const Node& node : graph.nodes) {
    const std::vector<ValueId> reads = OpGraph::reads(node);
    const std::vector<TensorMeta> inputs = metas_of(graph, reads), outputs = metas_of(graph, node.outputs);
    double cached = 0;
    for (const ValueId id : reads) cached += l2.cached(buffer_of(graph, id));
    const OpEstimate estimate = estimate_op(gpu, table, node, inputs, outputs, cached);
    sum += estimate.milliseconds;
    if (estimate.work.op_class == "view") continue;
    for (const ValueId id : reads)
      l2.use(buffer_of(graph, id), static_cast<double>(graph.values[static_cast<std::size_t>(id)].meta.span_bytes()));
    for (const ValueId id : node.outputs)
      l2.use(buffer_of(graph, id), static_cast<double>(graph.values[static_cast<std::size_t>(id)].meta.span_bytes()));
  }
  return sum;
}

}  // namespace cudal1::vgpu
