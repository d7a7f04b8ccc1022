#pragma once

#include "writer/technique.hpp"

namespace cudal1 {

//! Nodes that give back what they are given become other names of it.
class DropIdentities : public RewriteTechnique {
 public:
  const TechniqueDescription& description() const override;
  void apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const override;
  std::vector<std::string> suggestions(const OpGraph& graph) const override;
};

}  // namespace cudal1
