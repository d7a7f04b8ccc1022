// What a model sees: the paper's protocol for one task, within the model's context window.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/vgpu/model/gpu_profile.hpp"
#include "graph/op_graph.hpp"
#include "policy/prompt/format_card.hpp"
#include "policy/prompt/program_form.hpp"
#include "policy/token_count.hpp"

namespace cudal1 {

enum class PromptForm {
  full,     //!< for models that follow instructions: everything that helps, an answer in three parts
  compact,  //!< for small models trained by us: graph and exemplars; one line of analysis and directives come back
};

//! A program that was right.
struct PromptExemplar {
  std::string program;
  double speedup = 1.0;
  std::string profile = {};  //!< where its time goes, as text (profile_text.hpp); empty: not known, or not to be shown
  bool shows_score = true;   //!< else the prompt does not say how fast it is
};

struct PromptSubject {
  std::string name;
  std::string description;  //!< free text of the task's author
  OpGraph graph;            //!< with its metas
  std::string source;       //!< of the PyTorch module; empty: there is none
  vgpu::GpuProfile gpu;
  std::vector<PromptExemplar> exemplars;
};

//! Of exemplars in the prompt.
enum class ExemplarOrder {
  slowest_first,
  //! For training, which shuffles them: neither their order nor which of them stay where there is no room may give
  //! the scores away.
  as_given,
};

struct PromptOptions {
  PromptForm form = PromptForm::full;
  std::size_t context_tokens = 32768;        //!< what the model can see, its answer included
  std::optional<std::size_t> answer_tokens;  //!< room for the answer; not given: default_answer_tokens(form)
  std::optional<CardLength> card;            //!< not given: `full` in the full form, `none` in the compact one
  TokenCounter count_tokens = estimated_tokens;
  ExemplarOrder order = ExemplarOrder::slowest_first;
  ProgramForm program = ProgramForm::directives;  //!< that the compact form asks for; the full one leaves it open
};

//! A part of a prompt, or what would have been one.
struct PromptPart {
  std::string name;        //!< "graph", "exemplar 1"
  std::size_t tokens = 0;  //!< by itself
  bool is_included = true;
  std::string why_left_out = {};
};

struct Prompt {
  std::string text;
  std::vector<PromptPart> parts;       //!< by priority
  std::vector<std::size_t> exemplars;  //!< that are in the text, by their place among those in its order
  std::size_t tokens = 0;              //!< of the whole text; may differ from the sum over parts
  std::size_t context_tokens = 0, answer_tokens = 0;
};

std::string_view to_string(PromptForm form);
std::optional<PromptForm> prompt_form_from_string(std::string_view name);
std::size_t default_answer_tokens(PromptForm form);

//! By priority: instructions and graph, which must fit; then the format card (in brief where the full one does not
//! fit), exemplars (the fastest first, or the first of those in the order that is given), their profiles, the source,
//! each if there is room. Throws Error in one line where what must fit does not.
Prompt make_prompt(const PromptSubject& subject, const PromptOptions& options);

}  // namespace cudal1
