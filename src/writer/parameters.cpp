#include "writer/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/nearest_name.hpp"
#include "program/rejection.hpp"
#include "writer/technique.hpp"

namespace cudal1 {
namespace {

//! Another technique has it: the line is well-formed, and wrong because of the nodes that it names.
bool is_known_elsewhere(std::string_view name) {
  return std::ranges::any_of(all_techniques(), [&](const Technique* technique) {
    const auto& parameters = technique->description().parameters;
    return std::ranges::find(parameters, name, &Parameter::name) != parameters.end();
  });
}

const Parameter& find_parameter(const std::vector<Parameter>& parameters, const DirectiveToken& name) {
  const auto found = std::ranges::find(parameters, name.text, &Parameter::name);
  if (found != parameters.end()) return *found;
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  const Status status = is_known_elsewhere(name.text) ? Status::plan_error : Status::parse_error;
  if (names.empty()) reject(status, name.at, fmt::format("{} is no parameter here: there are none", shown(name)));
  reject(status, name.at,
         fmt::format("{} is not a parameter here{}; the parameters are {}", shown(name), did_you_mean(name.text, names),
                     listed(names)));
}

std::string read_value(TokenCursor& cursor) {
  std::string value;
  do value += cursor.next().text;
  while (!cursor.at_end() && !cursor.peek().space_before);
  return value;
}

}  // namespace

std::vector<std::string> Parameter::all_choices() const {
  std::vector<std::string> all = choices;
  all.insert(all.end(), if_declared.begin(), if_declared.end());
  return all;
}

ParameterValues ParameterValues::read(TokenCursor& cursor, const std::vector<Parameter>& parameters) {
  ParameterValues values;
  const SourcePosition directive = cursor.peek().at;
  if (!cursor.at_end()) cursor.expect(":", "the nodes");
  while (!cursor.at_end()) {
    const DirectiveToken name = cursor.next();
    const Parameter& parameter = find_parameter(parameters, name);
    cursor.expect("=", fmt::format("'{}'", parameter.name));
    if (cursor.at_end())
      reject(Status::parse_error, name.at, fmt::format("'{}' has no value behind '='", parameter.name));
    const SourcePosition at = cursor.peek().at;
    const std::string value = read_value(cursor);
    const std::vector<std::string> choices = parameter.all_choices();
    if (std::ranges::find(choices, value) == choices.end())
      reject(Status::plan_error, at,
             fmt::format("{} is not among the values of '{}': {}", quoted(value), parameter.name, listed(choices, 24)));
    if (!values.values_.emplace(parameter.name, Given{value, at}).second)
      reject(Status::parse_error, name.at, fmt::format("'{}' is given twice", parameter.name));
  }
  values.leave_open(parameters, directive);
  return values;
}

ParameterValues ParameterValues::defaults(const std::vector<Parameter>& parameters) {
  ParameterValues values;
  values.leave_open(parameters, {});
  return values;
}

//! Those that were not given are what they are when they are not.
void ParameterValues::leave_open(const std::vector<Parameter>& parameters, SourcePosition at) {
  for (const Parameter& parameter : parameters) values_.emplace(parameter.name, Given{parameter.choices.front(), at});
}

std::int64_t ParameterValues::number(const std::string& name) const { return std::stoll(text(name)); }

}  // namespace cudal1
