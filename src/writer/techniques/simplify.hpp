#pragma once

#include "writer/technique.hpp"

namespace cudal1 {

//! Products with a diagonal matrix become multiplications element by element.
class SimplifyProducts : public RewriteTechnique {
 public:
  const TechniqueDescription& description() const override;
  void apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const override;
  std::vector<std::string> suggestions(const OpGraph& graph) const override;
};

}  // namespace cudal1
