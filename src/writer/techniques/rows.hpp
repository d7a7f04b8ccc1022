#pragma once

#include "writer/fused/loss_stages.hpp"
#include "writer/fused/row_space.hpp"
#include "writer/technique.hpp"

namespace cudal1 {

//! Reductions of rows with everything before and after them: sums, softmax, normalisations, losses.
class RowFusion : public FusionTechnique {
 public:
  const TechniqueDescription& description() const override;
  bool is_for(const Region& region) const override;
  WrittenGroup write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                     const std::string& name) const override;

 private:
  WrittenGroup write_stages(const LossStages& stages, const ParameterValues& parameters, SourcePosition at,
                            const std::string& name) const;
};

//! What a table of rows becomes with parameters of this technique.
WrittenGroup write_rows(const OpGraph& graph, const RowSpace& space, const ParameterValues& parameters,
                        const std::string& name);

}  // namespace cudal1
