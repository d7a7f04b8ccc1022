#pragma once

#include "model/files/gguf_contents.hpp"
#include "model/model_config.hpp"

namespace cudal1 {

//! A model's sizes from a GGUF file's metadata and from which tensors it has. Throws Error for architectures and
//! variants that are not supported, by name, and for sizes that cannot be.
ModelConfig config_of(const GgufContents& contents);

}  // namespace cudal1
