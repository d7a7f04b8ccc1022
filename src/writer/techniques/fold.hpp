#pragma once

#include "writer/technique.hpp"

namespace cudal1 {

//! Scales and shifts behind or before a convolution or linear layer go into its weight and bias.
class FoldIntoWeights : public RewriteTechnique {
 public:
  const TechniqueDescription& description() const override;
  void apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const override;
  std::vector<std::string> suggestions(const OpGraph& graph) const override;
};

}  // namespace cudal1
