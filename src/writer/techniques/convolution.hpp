// Convolutions of many channels as matrix products, with the pointwise nodes after them.
#pragma once

#include "writer/technique.hpp"

namespace cudal1 {

class ConvolutionFusion : public FusionTechnique {
 public:
  const TechniqueDescription& description() const override;
  bool is_for(const Region& region) const override;
  WrittenGroup write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                     const std::string& name) const override;
};

}  // namespace cudal1
