#pragma once

#include "writer/technique.hpp"

namespace cudal1 {

//! One matrix product with the pointwise nodes before and after it.
class ProductFusion : public FusionTechnique {
 public:
  const TechniqueDescription& description() const override;
  bool is_for(const Region& region) const override;
  WrittenGroup write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                     const std::string& name) const override;
};

}  // namespace cudal1
