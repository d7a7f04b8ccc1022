#pragma once

#include "writer/technique.hpp"

namespace cudal1 {

//! Convolutions in which each output sees few channels, with the pointwise nodes before and after them.
class DepthwiseFusion : public FusionTechnique {
 public:
  const TechniqueDescription& description() const override;
  bool is_for(const Region& region) const override;
  WrittenGroup write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                     const std::string& name) const override;
};

}  // namespace cudal1
