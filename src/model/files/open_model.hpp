#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "model/model_weights.hpp"

namespace cudal1 {

//! A GGUF file or a Hugging Face folder. Throws Error that says what is wrong and what to do.
std::unique_ptr<ModelWeights> open_model(const std::filesystem::path& path);

//! SHA-256 of a model: of the file's bytes; of a folder, of config.json and all its weights. Remembered in the cache by
//! path, size and time of change, so that a large model is read once.
std::string model_sha256(const std::filesystem::path& path);

}  // namespace cudal1
