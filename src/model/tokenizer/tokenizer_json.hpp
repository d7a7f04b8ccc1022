// Hugging Face's tokenizer.json, as far as byte-level BPE goes.
#pragma once

#include <filesystem>

#include "model/tokenizer_data.hpp"

namespace cudal1 {

//! Reads tokenizer.json and, from beside it where they are there, tokenizer_config.json (begin and end of text, chat
//! template) and chat_template.jinja, which wins over the former. Throws Error, one line with file and place, for what
//! is broken and for every kind of part that would change ids and is not known here, by its name.
TokenizerData read_tokenizer_json(const std::filesystem::path& path);

}  // namespace cudal1
