// adapter_config.json of PEFT's format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/files/lora_adapter.hpp"

namespace cudal1 {

//! Rank, alpha and the rest but the modules. Throws Error for features that are not supported, by name.
LoraAdapter read_lora_config(const std::filesystem::path& file);

//! The text of the file.
std::string lora_config_text(const LoraAdapter& adapter, const std::vector<std::string>& target_modules);

}  // namespace cudal1
