#pragma once

#include <filesystem>
#include <vector>

#include "model/model_config.hpp"

namespace cudal1 {

//! A model's sizes from config.json, as transformers 4 and 5 write it. Throws Error for architectures and variants that
//! are not supported, by name.
ModelConfig read_hugging_face_config(const std::filesystem::path& folder);

//! eos_token_id of generation_config.json, else of config.json; one or several.
std::vector<std::int32_t> read_end_tokens(const std::filesystem::path& folder);

}  // namespace cudal1
