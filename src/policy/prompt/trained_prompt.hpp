// How a model was asked while it was trained. It lies beside its adapter (prompt.json), so that whoever uses that asks
// in the same way: a model that is asked otherwise than it was taught loses most of what it has learned.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "policy/prompt/exemplar_selection.hpp"
#include "policy/prompt/prompt.hpp"

namespace cudal1 {

//! Prompts show exemplars in random order, with every parameter said, and no profiles.
struct TrainedPrompt {
  PromptForm form = PromptForm::compact;
  ProgramForm program = ProgramForm::directives;
  std::size_t context_tokens = 2048, answer_tokens = 160;
  ExemplarOptions exemplars;
  bool shows_scores = true;
  double temperature = 1.0;  //!< at which it wrote
  bool grammar = false;      //!< its answers were held to directives
  std::string texts;         //!< prompt_texts_hash() of the program that trained it

  bool operator==(const TrainedPrompt&) const = default;
};

//! SHA-256 of the texts in prompts/ that prompts of this form are made of.
std::string prompt_texts_hash(PromptForm form);

//! Writes FOLDER/prompt.json; throws Error.
void save_trained_prompt(const TrainedPrompt& prompt, const std::filesystem::path& folder);

//! Nothing where the folder has none. Throws Error, with the place, for what cannot be meant.
std::optional<TrainedPrompt> load_trained_prompt(const std::filesystem::path& folder);

//! A warning, one line, where this version's prompts have other texts than those it was trained with; else empty.
std::string texts_warning(const TrainedPrompt& prompt, const std::string& adapter_name);

}  // namespace cudal1
