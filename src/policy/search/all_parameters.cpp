#include "policy/search/all_parameters.hpp"

#include <algorithm>
#include <cmath>

#include "writer/technique.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

const std::vector<Parameter>& parameters_of(const std::string& technique) {
  for (const FusionTechnique* each : fusion_techniques())
    if (each->description().name == technique) return each->description().parameters;
  static const std::vector<Parameter> none;
  return none;
}

std::vector<std::string> choices_of(const std::string& technique, const std::string& name) {
  const auto& parameters = parameters_of(technique);
  return std::ranges::find(parameters, name, &Parameter::name)->all_choices();
}

//! By the ratio: from 3 to 4 it is nearer than to 2.
std::string nearest_number(const std::vector<std::string>& choices, const std::string& wanted) {
  const auto distance = [&](const std::string& choice) {
    return std::abs(std::log(std::stod(choice) / std::stod(wanted)));
  };
  return *std::ranges::min_element(choices.begin() + 1, choices.end(), {}, distance);  // the first is "auto"
}

enum class Unsayable { stays_open, becomes_nearest };

void say(Fusion& fusion, const AppliedTechnique& applied, Unsayable unsayable) {
  fusion.parameters.clear();
  for (const auto& [name, value] : applied.parameters) {
    const std::vector<std::string> choices = choices_of(applied.technique, name);
    if (std::ranges::find(choices, value) != choices.end())
      fusion.parameters[name] = value;
    else if (unsayable == Unsayable::becomes_nearest)
      fusion.parameters[name] = nearest_number(choices, value);
  }
}

std::optional<Proposal> said(const OpGraph& graph, Proposal proposal, Unsayable unsayable) {
  const auto written = write_program(graph, to_text(proposal));
  if (!written) return std::nullopt;
  std::size_t fusion = 0;
  for (const AppliedTechnique& applied : written.value().techniques)
    if (applied.first_line > 0) say(proposal.fusions[fusion++], applied, unsayable);
  return proposal;
}

}  // namespace

std::optional<Proposal> with_all_parameters(const OpGraph& graph, Proposal proposal) {
  return said(graph, std::move(proposal), Unsayable::stays_open);
}

std::string text_with_all_parameters(const OpGraph& graph, const std::string& text) {
  auto proposal = proposal_from_text(text);
  if (proposal) proposal = with_all_parameters(graph, std::move(*proposal));
  return proposal ? to_text(*proposal) : text;
}

std::optional<Proposal> with_nearest_parameters(const OpGraph& graph, Proposal proposal) {
  auto nearest = said(graph, std::move(proposal), Unsayable::becomes_nearest);
  // Others may have been chosen because of the number that is gone: what they are now is asked again.
  return nearest ? with_all_parameters(graph, std::move(*nearest)) : std::nullopt;
}

}  // namespace cudal1
