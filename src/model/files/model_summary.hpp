// What a person wants to know of a model before using it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "model/model_weights.hpp"

namespace cudal1 {

struct ModelSummary {
  std::filesystem::path path;
  std::string architecture;
  std::int64_t parameters = 0;
  std::uint64_t bytes = 0;                                     //!< of the files
  std::vector<std::pair<std::string, std::int64_t>> type_mix;  //!< storage type and parameters stored so, most first
  std::string sha256;
};

//! Opens the model. Throws Error.
ModelSummary summarise_model(const std::filesystem::path& path);

//! "Q4_1 79%, Q8_0 21%"; what is under half a percent is left out.
std::string mix_text(const ModelSummary& summary);

//! Opens the model, decodes every tensor and reads a GGUF file's tokenizer. Throws Error, naming the first tensor with
//! a value that is not finite.
ModelSummary verify_model(const std::filesystem::path& path);

}  // namespace cudal1
