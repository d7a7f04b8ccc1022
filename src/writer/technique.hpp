// A technique: one named way to make programs faster, which directives ask for and which can be left out.
#pragma once

#include <string>
#include <vector>

#include "program/directive_tokens.hpp"
#include "writer/draft.hpp"
#include "writer/fused/region.hpp"
#include "writer/parameters.hpp"

namespace cudal1 {

//! What the manual says of a technique, and what a policy may choose.
struct TechniqueDescription {
  std::string name;
  std::string directive;  //!< the word that its lines begin with
  std::string what, helps, hurts;
  std::string example;
  std::vector<Parameter> parameters;
  //! What stands behind the directive's word, before parameters: names of nodes (or patterns), one name, or words.
  std::string form = "NODE…";
};

class Technique {
 public:
  virtual ~Technique() = default;
  virtual const TechniqueDescription& description() const = 0;
};

//! Techniques of `fuse NODE… : PARAMETERS`, which make one group of kernels of several nodes. Which of them is meant
//! follows from the nodes.
class FusionTechnique : public Technique {
 public:
  //! Is this the technique for such nodes? What it then cannot write it rejects itself.
  virtual bool is_for(const Region& region) const = 0;
  //! Throws Rejection at `at` for what cannot be fused.
  virtual WrittenGroup write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                             const std::string& name) const = 0;
};

//! Techniques with a directive of their own, which change the graph that later lines see.
class RewriteTechnique : public Technique {
 public:
  //! Reads the rest of the line. Throws Rejection for what the graph rules out.
  virtual void apply(TokenCursor& cursor, const DirectiveToken& word, Draft& draft) const = 0;
  //! Lines, without `//!`, that may rewrite this graph: what a policy tries. Some of them may be refused.
  virtual std::vector<std::string> suggestions(const OpGraph& graph) const = 0;
};

//! All there are, in the order of the manual.
const std::vector<const Technique*>& all_techniques();

//! Those of `fuse`, in the order in which they are tried.
const std::vector<const FusionTechnique*>& fusion_techniques();

//! Those with a directive of their own.
const std::vector<const RewriteTechnique*>& rewrite_techniques();

//! Null: the word is no directive of the writer's own.
const RewriteTechnique* rewrite_technique(std::string_view directive);

}  // namespace cudal1
