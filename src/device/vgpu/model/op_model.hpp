// How long library steps take: bytes and operations over rates that the library was seen to reach.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "device/vgpu/model/gpu_profile.hpp"
#include "device/vgpu/model/op_work.hpp"

namespace cudal1::vgpu {

//! What the library makes of the GPU, for a class of operators.
struct OpEfficiency {
  double bandwidth = 0;  //!< share of the DRAM rate that a copy reaches
  double compute = 0;    //!< share of the peak of the unit that does the products
  double kernels = 0;    //!< launches
  double start_us = 0;   //!< what every call takes however small its tensors are, beyond launches
};
using OpTable = std::map<std::string, OpEfficiency, std::less<>>;

//! gpus/ops.json as it was when the program was built, or the file at the path. Throws Error with file and place.
OpTable load_op_table(const std::string& path = "ops");
OpTable parse_op_table(std::string_view text, const std::string& file);

struct OpEstimate {
  double milliseconds = 0;  //!< launches included
  double launch_milliseconds = 0;
  OpWork work;
  double dram_bytes = 0;  //!< that DRAM moves: by the rules for kernels (memory_traffic.hpp)
  std::string bound;      //!< "DRAM bandwidth", "tensor cores", "fp32", "launch"
};

//! `cached_bytes`: of what it reads that is in L2.
OpEstimate estimate_op(const GpuProfile& gpu, const OpTable& table, const Node& node,
                       std::span<const TensorMeta> inputs, std::span<const TensorMeta> outputs,
                       double cached_bytes = 0);

//! The table that comes with the program; read once.
const OpTable& built_in_op_table();

//! With that table.
double op_milliseconds(const GpuProfile& gpu, const Node& node, std::span<const TensorMeta> inputs,
                       std::span<const TensorMeta> outputs);

//! Device time of a call of the whole graph, step after step through the library, from an empty L2. The metas of all
//! values must be known.
double graph_milliseconds(const GpuProfile& gpu, const OpTable& table, const OpGraph& graph);

}  // namespace cudal1::vgpu
