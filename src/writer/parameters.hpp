// Parameters of a technique: `: vector=4 items=2` behind its nodes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "program/directive_tokens.hpp"

namespace cudal1 {

//! What may be chosen. The choices are all there are, so that a policy can draw them and a person can read them.
struct Parameter {
  std::string name;
  std::string what;
  std::vector<std::string> choices;  //!< the first is what it is when it is not given
  //! More choices, which lose digits: whoever judges must have declared a lower precision. No policy draws them.
  std::vector<std::string> if_declared = {};

  std::vector<std::string> all_choices() const;
};

//! What was chosen.
class ParameterValues {
 public:
  struct Given {
    std::string text;
    SourcePosition at;
  };
  //! Reads `: name=value …` up to the directive's end. Throws Rejection for names and values that there are not.
  static ParameterValues read(TokenCursor& cursor, const std::vector<Parameter>& parameters);
  //! Nothing was chosen.
  static ParameterValues defaults(const std::vector<Parameter>& parameters);

  const std::string& text(const std::string& name) const { return values_.at(name).text; }
  //! Nothing was chosen, or "auto".
  bool is_auto(const std::string& name) const { return text(name) == "auto"; }
  std::int64_t number(const std::string& name) const;
  //! Where it was chosen; the directive's place if it was not.
  SourcePosition at(const std::string& name) const { return values_.at(name).at; }

 private:
  void leave_open(const std::vector<Parameter>& parameters, SourcePosition at);

  std::map<std::string, Given> values_;
};

}  // namespace cudal1
