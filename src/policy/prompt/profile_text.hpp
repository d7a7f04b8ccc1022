// Where the time of an exemplar goes, in as few words as a model needs to know what to change.
#pragma once

#include <string>

#include "policy/prompt/prompt.hpp"

namespace cudal1 {

//! `profile`: an Evaluation's, as JSON. Full: a line for each of the longest steps, with what it waits for and what may
//! help. Compact: the longest steps on one line. Empty where there is no profile, or it cannot be read.
std::string profile_text(const std::string& profile, PromptForm form);

}  // namespace cudal1
