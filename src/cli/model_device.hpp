// Where the local policy's model is computed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/policy_options.hpp"
#include "policy/local/local_generator.hpp"
#include "train/rollout/model_turns.hpp"

namespace cudal1 {

//! Asked for before something is computed on the GPU and kept until it is done: shared with all who compute there;
//! whoever measures waits until we are done, and we for them.
std::function<std::shared_ptr<void>()> turns_on_gpu();

//! The same for a model that learns, which lets those who measure pass between two pieces of its work.
ModelTurns model_turns_on_gpu();

//! Makes the generator decode on a GPU where `--model-device` asks for one, or says `auto` and there is one with enough
//! memory; else on the CPU. Throws Error in one line where a GPU is asked for and cannot be had. `report` hears why
//! `auto` did not take the GPU that is there.
void choose_model_device(const PolicyOptions& options, LocalGeneratorOptions& generator,
                         const std::function<void(const std::string& line)>& report);

}  // namespace cudal1
