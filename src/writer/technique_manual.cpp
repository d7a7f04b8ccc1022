#include "writer/technique_manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "program/nearest_name.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr std::size_t line_length = 100;

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Technique* technique : all_techniques()) names.push_back(technique->description().name);
  return names;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = text.find_first_not_of(' '); begin != text.npos;) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(' ', end);
  }
  return words;
}

//! A paragraph whose first line begins with `label`; the others are indented as far.
std::string paragraph(const std::string& label, const std::string& text) {
  std::string result, line = label;
  bool empty = true;
  for (const std::string& word : words_of(text)) {
    if (!empty && line.size() + 1 + word.size() > line_length) {
      result += line + "\n";
      line = std::string(label.size(), ' ');
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return result + line + "\n";
}

//! With what some values need besides.
std::string described(const Parameter& parameter) {
  if (parameter.if_declared.empty()) return parameter.what;
  return fmt::format(
      "{}; {}: fp32 operands rounded to that, one product, where a lower precision is declared (eval --precision)",
      parameter.what, listed(parameter.if_declared));
}

std::string listed_parameter(const Parameter& parameter) {
  return paragraph(fmt::format("    {:<8} ", parameter.name),
                   fmt::format("{}: {}", described(parameter), listed(parameter.all_choices(), 64)));
}

//! A bar would begin the next column of a table.
std::string for_table(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

std::string parameter_table(const std::vector<Parameter>& parameters) {
  if (parameters.empty()) return "It has no parameters.\n";
  std::string text = "| parameter | what it is | values |\n|---|---|---|\n";
  for (const Parameter& parameter : parameters) {
    std::string choices;
    for (const std::string& choice : parameter.all_choices())
      choices += fmt::format("{}`{}`", choices.empty() ? "" : " ", choice);
    text += fmt::format("| `{}` | {} | {} |\n", parameter.name, for_table(described(parameter)), choices);
  }
  return text;
}

std::string section(const TechniqueDescription& technique) {
  return fmt::format("\n## {}\n```cuda\n//! {}\n```\n{}\n\n- **Helps:** {}\n- **Hurts:** {}\n\n{}", technique.name,
                     technique.example, technique.what, technique.helps, technique.hurts,
                     parameter_table(technique.parameters));
}

json to_json(const TechniqueDescription& technique) {
  json parameters = json::array();
  for (const Parameter& parameter : technique.parameters)
    parameters.push_back({{"name", parameter.name},
                          {"what", described(parameter)},
                          {"default", parameter.choices.front()},
                          {"choices", parameter.all_choices()}});
  return {{"name", technique.name},   {"directive", technique.directive}, {"what", technique.what},
          {"helps", technique.helps}, {"hurts", technique.hurts},         {"example", technique.example},
          {"parameters", parameters}};
}

}  // namespace

TechniqueList techniques_named(const std::vector<std::string>& names) {
  const std::vector<std::string> known = all_names();
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw UsageError(fmt::format("there is no technique '{}'{}; the techniques are {}", name,
                                   did_you_mean(name, known), listed(known, 64)));
  TechniqueList chosen;
  for (const Technique* technique : all_techniques())
    if (names.empty() || std::ranges::find(names, technique->description().name) != names.end())
      chosen.push_back(technique);
  return chosen;
}

std::string techniques_listing(const TechniqueList& techniques) {
  std::string text;
  for (const Technique* technique : techniques) {
    const TechniqueDescription& described = technique->description();
    text += fmt::format("{}{}: //! {}\n", text.empty() ? "" : "\n", described.name, described.example);
    text += paragraph("  ", described.what) + paragraph("  helps: ", described.helps) +
            paragraph("  hurts: ", described.hurts);
    for (const Parameter& parameter : described.parameters) text += listed_parameter(parameter);
  }
  return text;
}

std::string techniques_page(const TechniqueList& techniques) {
  std::string text =
      "# Techniques\n\nWhat the writer can make of a program's directives. Each technique is asked for by a line of "
      "its own, can be left out again, and is measured by itself with [`cudal1 explain`](explain.md). A line that a "
      "graph "
      "rules out is refused before anything is compiled, with the rule that forbids it. `cudal1 expand TASK PROGRAM` "
      "shows the CUDA that a line becomes. `graph`, which launches a call as one CUDA Graph, with independent "
      "steps side by side where it has `branches`, is a directive of every "
      "[program](program.md).\n\nOf a parameter's values the first is what it is when it is not given. "
      "This page is printed by `cudal1 techniques --markdown`; do not edit it.\n";
  for (const Technique* technique : techniques) text += section(technique->description());
  return text;
}

json techniques_json(const TechniqueList& techniques) {
  json list = json::array();
  for (const Technique* technique : techniques) list.push_back(to_json(technique->description()));
  return {{"techniques", list}};
}

}  // namespace cudal1
