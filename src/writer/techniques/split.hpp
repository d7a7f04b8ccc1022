#pragma once

#include "writer/technique.hpp"

namespace cudal1 {

//! The library's operator without its bias, and the addition of the bias as a node of its own.
class SplitBias : public RewriteTechnique {
 public:
  const TechniqueDescription& description() const override;
  void apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const override;
  std::vector<std::string> suggestions(const OpGraph& graph) const override;
};

}  // namespace cudal1
