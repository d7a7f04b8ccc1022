// Many programs for one task: what a model learns the format from, and whose speeds say whether a task is worth
// training on. They come from the space of the search, but not from what the search thinks good: slow ones are wanted
// as well.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device/vgpu/model/gpu_profile.hpp"
#include "graph/op_graph.hpp"

namespace cudal1 {

struct ProgramVariant {
  std::string text;  //!< directive lines, all parameters said
  std::string plan_hash;
  std::vector<std::string> techniques = {};  //!< by which the writer makes it, sorted, each once
};

struct VariantOptions {
  std::size_t count = 24;
  //! Of the time that the reference is expected to take: that of nodes which a variant replaces. Less is no success.
  double least_replaced_share = 0.5;
};

//! No two with the same plan, none with the empty program's; each becomes a plan. Fewer than asked for where no more
//! are found in many attempts. The graph must have its metas. The same Random gives the same ones.
std::vector<ProgramVariant> program_variants(const OpGraph& graph, const vgpu::GpuProfile& gpu,
                                             const VariantOptions& options, Random& random);

}  // namespace cudal1
