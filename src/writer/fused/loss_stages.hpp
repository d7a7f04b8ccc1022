// Losses that reduce twice, as cross entropy does: over classes for each row, then over rows. Two fusions take the
// place of one, with what the rows give in memory between them.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "program/rejection.hpp"
#include "writer/draft.hpp"
#include "writer/fused/region.hpp"

namespace cudal1 {

struct LossStages {
  OpGraph graph;                //!< with a node more for each such loss
  std::set<int> first, second;  //!< nodes up to the rows' losses, and all others
  std::vector<WrittenBuffer> buffers;
};

//! Nothing: there is no such loss among the nodes. `name`: what names of buffers begin with. Throws Rejection at `at`
//! where more than the rows' losses is needed on both sides.
std::optional<LossStages> loss_stages(const Region& region, SourcePosition at, const std::string& name);

}  // namespace cudal1
