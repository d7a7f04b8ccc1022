// Low-rank adapters in PEFT's format: a folder with adapter_config.json and adapter_model.safetensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_config.hpp"

namespace cudal1 {

//! What is added to one linear layer: its weight W becomes W + scale * B A.
struct LoraModule {
  std::int64_t out = 0, in = 0;
  std::vector<float> a;  //!< (rank, in), row by row
  std::vector<float> b;  //!< (out, rank), row by row
};

struct LoraAdapter {
  std::int64_t rank = 0;
  double alpha = 0.0;
  bool rank_stabilised = false;               //!< "rslora": scaled by the root of the rank
  std::map<std::string, LoraModule> modules;  //!< by Hugging Face's path: "model.layers.0.self_attn.q_proj"
  std::string base_name;                      //!< of the model that it was trained on, for people
  std::string base_sha256;                    //!< model_sha256 of that model; empty: unknown

  double scale() const;  //!< alpha / rank, or alpha / sqrt(rank)
};

//! Throws Error for what is damaged, and for features of PEFT that are not supported, by name.
LoraAdapter load_lora_adapter(const std::filesystem::path& folder);

//! Throws Error, naming module and sizes, where the adapter is for a model of other sizes or other layers.
void check_adapter(const LoraAdapter& adapter, const ModelConfig& config, const std::string& adapter_name);

//! How an adapter's numbers are stored: bf16 takes half the room, each number rounded once.
enum class AdapterStorage { f32, bf16 };

//! Writes a folder that PEFT and load_lora_adapter read, with the base's name and hash in base.json beside it. Each
//! file is replaced whole. Throws Error, also where check_adapter does, and for numbers that bf16 cannot hold.
void save_lora_adapter(const LoraAdapter& adapter, const ModelConfig& config, const std::filesystem::path& folder,
                       AdapterStorage storage = AdapterStorage::f32);

//! The same adapter in another folder, stored in another way; its model need not be there. Throws Error.
void copy_lora_adapter(const std::filesystem::path& from, const std::filesystem::path& to, AdapterStorage storage);

//! A warning, one line, where the adapter was trained on another file than the one with this hash; else empty.
std::string base_warning(const LoraAdapter& adapter, std::string_view model_sha256, const std::string& adapter_name);

}  // namespace cudal1
