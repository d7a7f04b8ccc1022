#pragma once

#include "writer/technique.hpp"

namespace cudal1 {

//! A sum or mean over other dimensions than the features comes before a linear layer instead of behind it.
class CommuteReduction : public RewriteTechnique {
 public:
  const TechniqueDescription& description() const override;
  void apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const override;
  std::vector<std::string> suggestions(const OpGraph& graph) const override;
};

}  // namespace cudal1
