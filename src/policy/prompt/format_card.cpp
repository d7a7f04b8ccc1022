#include "policy/prompt/format_card.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/prompt/graph_text.hpp"
#include "policy/prompt/prompt_template.hpp"
#include "policy/prompt/text_blocks.hpp"

namespace cudal1 {
namespace {

//! Without the line end that fences and templates leave at the end, since the template has its own.
std::string without_last_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string full_section(const TechniqueDescription& technique) {
  std::string text = fmt::format("\n### {}\n`//! {}`\n{}\n- Helps: {}\n- Hurts: {}\n", technique.name,
                                 technique.example, technique.what, technique.helps, technique.hurts);
  for (const Parameter& parameter : technique.parameters)
    text += fmt::format("- `{}={}`: {}\n", parameter.name, fmt::join(parameter.choices, "|"), parameter.what);
  return text;
}

//! Without its full stop.
std::string first_sentence(const std::string& text) {
  const std::string sentence = text.substr(0, text.find(". "));
  return sentence.ends_with('.') ? sentence.substr(0, sentence.size() - 1) : sentence;
}

//! The first choices: what there are more of is like these.
std::string some_choices(const Parameter& parameter) {
  constexpr std::size_t shown = 4;
  const std::size_t count = std::min(shown, parameter.choices.size());
  const std::vector<std::string> first(parameter.choices.begin(),
                                       parameter.choices.begin() + static_cast<std::ptrdiff_t>(count));
  return fmt::format("{}={}{}", parameter.name, fmt::join(first, "|"), parameter.choices.size() > count ? "|…" : "");
}

std::string brief_section(const TechniqueDescription& technique) {
  std::string text = fmt::format("//! {}\n  {}: {}. Helps: {}.\n", technique.example, technique.name,
                                 first_sentence(technique.what), first_sentence(technique.helps));
  std::vector<std::string> parameters;
  for (const Parameter& parameter : technique.parameters) parameters.push_back(some_choices(parameter));
  if (!parameters.empty()) text += fmt::format("  parameters: {}\n", fmt::join(parameters, " "));
  return text;
}

}  // namespace

Task card_example_task() { return parse_task(prompt_file("example_graph.json"), "prompts"); }
std::string_view card_example_directives() { return prompt_file("example_directives.cu"); }
std::string_view card_example_kernel() { return prompt_file("example_kernel.cu"); }

std::string format_card(const TechniqueList& techniques, CardLength length) {
  if (length == CardLength::none) return {};
  const bool is_full = length == CardLength::full;
  PlaceholderValues values;
  for (const Technique* technique : techniques)
    values["techniques"] += is_full ? full_section(technique->description()) : brief_section(technique->description());
  values["techniques"] = is_full ? values["techniques"] : without_last_line_end(values["techniques"]);
  const OpGraph graph = card_example_task().graph;
  if (!is_full) {
    values["example_graph"] = without_last_line_end(graph_text(graph, GraphTextForm::compact));
    values["example_directives"] = without_last_line_end(std::string(card_example_directives()));
    return filled_prompt_file("card_short.md", values);
  }
  values["example_graph"] = without_last_line_end(fenced(graph_text(graph, GraphTextForm::readable), ""));
  values["example_directives"] = without_last_line_end(fenced(card_example_directives(), "cuda"));
  values["example_kernel"] = without_last_line_end(fenced(card_example_kernel(), "cuda"));
  return filled_prompt_file("card_full.md", values);
}

}  // namespace cudal1
