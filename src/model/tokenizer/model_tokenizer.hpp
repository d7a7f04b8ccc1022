// The tokenizer that comes with a model, whichever kind of file it is.
#pragma once

#include <filesystem>

#include "model/model_weights.hpp"
#include "model/tokenizer_data.hpp"

namespace cudal1 {

//! Of a GGUF file's metadata, or of tokenizer.json in the folder. `weights`: what open_model(path) gave. Throws Error.
TokenizerData tokenizer_of_model(const std::filesystem::path& path, const ModelWeights& weights);

}  // namespace cudal1
