#pragma once

#include "writer/technique.hpp"

namespace cudal1 {

//! Cumulative sums and products, with everything that is computed element by element before and after them.
class ScanFusion : public FusionTechnique {
 public:
  const TechniqueDescription& description() const override;
  bool is_for(const Region& region) const override;
  WrittenGroup write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                     const std::string& name) const override;
};

}  // namespace cudal1
