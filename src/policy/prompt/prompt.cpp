#include "policy/prompt/prompt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/result.hpp"
#include "policy/prompt/gpu_text.hpp"
#include "policy/prompt/graph_text.hpp"
#include "policy/prompt/program_directives.hpp"
#include "policy/prompt/prompt_template.hpp"
#include "policy/prompt/text_blocks.hpp"

namespace cudal1 {
namespace {

//! Where a part goes in the prompt.
enum class Slot { required, card, exemplar, profile, source };

struct Candidate {
  PromptPart part;
  Slot slot = Slot::required;
  std::size_t exemplar = 0;  //!< which one, of exemplars and profiles
  std::string text = {};
};

constexpr const char* no_room = "there is no room for it";

PromptSubject in_order(PromptSubject subject, ExemplarOrder order) {
  if (order == ExemplarOrder::slowest_first) std::ranges::stable_sort(subject.exemplars, {}, &PromptExemplar::speedup);
  return subject;
}

//! The fastest first, of equal ones the last; or as they were given.
std::vector<std::size_t> by_priority(const std::vector<PromptExemplar>& exemplars, ExemplarOrder order) {
  std::vector<std::size_t> places(exemplars.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (order == ExemplarOrder::as_given) return places;
  std::ranges::reverse(places);
  std::ranges::stable_sort(places, std::ranges::greater(), [&](std::size_t i) { return exemplars[i].speedup; });
  return places;
}

class PromptMaker {
 public:
  PromptMaker(const PromptSubject& subject, const PromptOptions& options)
      : subject_(in_order(subject, options.order)),
        options_(options),
        is_full_(options.form == PromptForm::full),
        answer_tokens_(options.answer_tokens.value_or(default_answer_tokens(options.form))) {}

  Prompt make() {
    add_required();
    add_card();
    add_exemplars();
    add_source();
    drop_until_it_fits();
    Prompt prompt;
    prompt.text = whole_text();
    prompt.tokens = count(prompt.text);
    for (const Candidate& candidate : candidates_) prompt.parts.push_back(candidate.part);
    for (std::size_t i = 0; i < subject_.exemplars.size(); ++i)
      if (find(Slot::exemplar, i)) prompt.exemplars.push_back(i);
    prompt.context_tokens = options_.context_tokens;
    prompt.answer_tokens = answer_tokens_;
    return prompt;
  }

 private:
  std::size_t count(std::string_view text) const { return options_.count_tokens(text); }

  std::size_t room() const {
    return options_.context_tokens > answer_tokens_ ? options_.context_tokens - answer_tokens_ : 0;
  }

  std::string graph() const {
    return graph_text(subject_.graph, is_full_ ? GraphTextForm::readable : GraphTextForm::compact);
  }

  void add_required() {
    add({{.name = "graph", .tokens = count(graph())}, Slot::required});
    const std::size_t all = count(whole_text());
    const std::size_t graph_tokens = candidates_.front().part.tokens;
    add({{.name = "instructions", .tokens = all - std::min(all, graph_tokens)}, Slot::required});
    used_ = all;
    if (all > room())
      throw Error(fmt::format(
          "the graph of '{}' ({} nodes) does not fit: with the instructions it has {} tokens, and a "
          "context of {} has room for {} beside the answer's {}; give a larger context, keep less of it for the "
          "answer, or take a task with fewer nodes",
          subject_.name, subject_.graph.nodes.size(), all, options_.context_tokens, room(), answer_tokens_));
  }

  void add(Candidate candidate) { candidates_.push_back(std::move(candidate)); }

  //! Included if there is room.
  bool offer(Candidate candidate) {
    candidate.part.tokens = count(candidate.text);
    candidate.part.is_included = used_ + candidate.part.tokens <= room();
    if (candidate.part.is_included)
      used_ += candidate.part.tokens;
    else
      candidate.part.why_left_out = no_room;
    add(std::move(candidate));
    return candidates_.back().part.is_included;
  }

  bool offer_card(CardLength length, const char* name) {
    const std::string card = format_card(all_techniques(), length);
    return offer({{.name = name},
                  Slot::card,
                  0,
                  filled_prompt_file(is_full_ ? "full_card.md" : "compact_card.md", {{"card", card}})});
  }

  void add_card() {
    const CardLength length = options_.card.value_or(is_full_ ? CardLength::full : CardLength::none);
    if (length == CardLength::full && offer_card(CardLength::full, "format card")) return;
    if (length != CardLength::none) offer_card(CardLength::brief, "format card, in brief");
  }

  //! As it is shown, or nothing where this form cannot show it.
  std::optional<std::string> shown_program(const PromptExemplar& exemplar) const {
    if (is_full_) return fenced(exemplar.program, "cuda");
    auto lines = directives_alone(exemplar.program);
    if (lines && lines->empty()) lines = "// empty\n";
    if (lines) lines->pop_back();  // the template ends the line
    return lines;
  }

  void add_exemplars() {
    for (const std::size_t i : by_priority(subject_.exemplars, options_.order)) {
      const PromptExemplar& exemplar = subject_.exemplars[i];
      const std::string name = fmt::format("exemplar {} ({:.2f}x)", i + 1, exemplar.speedup);
      if (const auto program = shown_program(exemplar))
        offer({{.name = name}, Slot::exemplar, i, *program});
      else
        add({{.name = name, .is_included = false, .why_left_out = "it has code beside its directives"},
             Slot::exemplar,
             i});
    }
    for (const std::size_t i : by_priority(subject_.exemplars, options_.order))
      if (!subject_.exemplars[i].profile.empty() && find(Slot::exemplar, i))
        offer({{.name = fmt::format("profile of exemplar {}", i + 1)}, Slot::profile, i, shown_profile(i)});
  }

  std::string shown_profile(std::size_t exemplar) const {
    const std::string& profile = subject_.exemplars[exemplar].profile;
    if (is_full_) return filled_prompt_file("full_profile.md", {{"profile", fenced(profile, "")}});
    const std::string line = filled_prompt_file("compact_profile.md", {{"profile", on_one_line(profile)}});
    return fmt::format("\n{}", line.substr(0, line.size() - 1));  // the exemplar's template ends the line
  }

  void add_source() {
    if (subject_.source.empty()) return;
    if (is_full_)
      offer({{.name = "source"},
             Slot::source,
             0,
             filled_prompt_file("full_source.md", {{"source", fenced(subject_.source, "python")}})});
    else
      add({{.name = "source",
            .tokens = count(subject_.source),
            .is_included = false,
            .why_left_out = "the compact form has none"},
           Slot::source});
  }

  //! Null: it is not included.
  const Candidate* find(Slot slot, std::size_t exemplar = 0) const {
    for (const Candidate& candidate : candidates_)
      if (candidate.part.is_included && candidate.slot == slot && candidate.exemplar == exemplar) return &candidate;
    return nullptr;
  }

  std::string text_of(Slot slot, std::size_t exemplar = 0) const {
    const Candidate* found = find(slot, exemplar);
    return found ? found->text : std::string();
  }

  static std::string shown_score(const PromptExemplar& exemplar) {
    return exemplar.shows_score ? fmt::format(", score {:.2f}", exemplar.speedup) : std::string();
  }

  std::string exemplars_text() const {
    std::string list;
    int number = 0;
    for (std::size_t i = 0; i < subject_.exemplars.size(); ++i) {
      if (!find(Slot::exemplar, i)) continue;
      PlaceholderValues values{{"score", shown_score(subject_.exemplars[i])},
                               {"program", text_of(Slot::exemplar, i)},
                               {"profile", text_of(Slot::profile, i)}};
      if (is_full_) values["number"] = std::to_string(++number);
      list += filled_prompt_file(is_full_ ? "full_exemplar.md" : "compact_exemplar.md", values);
    }
    return list.empty() || !is_full_ ? list : filled_prompt_file("full_exemplars.md", {{"exemplars", list}});
  }

  std::string whole_text() const {
    PlaceholderValues values{{"name", subject_.name},
                             {"graph", is_full_ ? fenced(graph(), "") : graph()},
                             {"card", text_of(Slot::card)},
                             {"exemplars", exemplars_text()}};
    if (!is_full_) {
      values["gpu"] = on_one_line(subject_.gpu.title);
      values["program_form"] = wanted_form();
      return filled_prompt_file("compact.md", values);
    }
    const std::string description = on_one_line(subject_.description);
    values["description"] = description.empty() ? "" : "What it is: " + description + "\n";
    values["gpu"] = gpu_text(subject_.gpu);
    values["source"] = text_of(Slot::source);
    return filled_prompt_file("full.md", values);
  }

  std::string wanted_form() const {
    const bool by_directives = options_.program == ProgramForm::directives;
    return on_one_line(filled_prompt_file(by_directives ? "compact_directives.txt" : "compact_written_out.txt", {}));
  }

  //! Tokens of a whole are not the sum of its parts', and headings come with the first exemplar: the last part goes
  //! until the text itself fits.
  void drop_until_it_fits() {
    while (count(whole_text()) > room()) {
      const auto last = std::ranges::find_if(candidates_.rbegin(), candidates_.rend(), [](const Candidate& candidate) {
        return candidate.slot != Slot::required && candidate.part.is_included;
      });
      if (last == candidates_.rend()) return;  // what is required was found to fit
      last->part.is_included = false;
      last->part.why_left_out = no_room;
    }
  }

  const PromptSubject subject_;
  const PromptOptions& options_;
  bool is_full_;
  std::size_t answer_tokens_;
  std::vector<Candidate> candidates_;
  std::size_t used_ = 0;
};

}  // namespace

std::string_view to_string(PromptForm form) { return form == PromptForm::full ? "full" : "compact"; }

std::optional<PromptForm> prompt_form_from_string(std::string_view name) {
  for (const PromptForm form : {PromptForm::full, PromptForm::compact})
    if (name == to_string(form)) return form;
  return std::nullopt;
}

std::size_t default_answer_tokens(PromptForm form) {
  // Analysis, design and kernels; a line and a few directives.
  return form == PromptForm::full ? 8192 : 160;
}

Prompt make_prompt(const PromptSubject& subject, const PromptOptions& options) {
  return PromptMaker(subject, options).make();
}

}  // namespace cudal1
