#pragma once

#include "writer/technique.hpp"

namespace cudal1 {

//! What depends on weights alone is computed when they change, not in a call.
class HoistWeights : public RewriteTechnique {
 public:
  const TechniqueDescription& description() const override;
  void apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const override;
  std::vector<std::string> suggestions(const OpGraph& graph) const override;
};

}  // namespace cudal1
