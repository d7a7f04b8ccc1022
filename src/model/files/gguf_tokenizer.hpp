#pragma once

#include "model/files/gguf_metadata.hpp"
#include "model/tokenizer_data.hpp"

namespace cudal1 {

//! The byte-level BPE tokenizer that a GGUF file's metadata describe. Throws Error for other kinds of tokenizers and of
//! pre-tokenizers, by name, and where merges or tokens are missing.
TokenizerData tokenizer_of(const GgufMetadata& metadata);

//! Ids after which a model has said all: end of text and end of turn.
std::vector<std::int32_t> end_tokens_of(const GgufMetadata& metadata);

}  // namespace cudal1
