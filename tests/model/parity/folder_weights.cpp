#include "folder_weights.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"
#include "model/transformer/parameter_names.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

Architecture architecture_of(const std::string& name) {
  if (name == "llama") return Architecture::llama;
  if (name == "qwen2") return Architecture::qwen2;
  if (name == "qwen3") return Architecture::qwen3;
  throw Error(fmt::format("no parity test for the architecture {}", name));
}

ModelConfig config_of(const json& from) {
  ModelConfig config;
  config.architecture = architecture_of(from.at("model_type"));
  config.layers = from.at("num_hidden_layers");
  config.hidden = from.at("hidden_size");
  config.heads = from.at("num_attention_heads");
  config.kv_heads = from.at("num_key_value_heads");
  config.head_size = from.value("head_dim", json()).is_number() ? from.at("head_dim").get<std::int64_t>()
                                                                : config.hidden / config.heads;
  config.feed_forward = from.at("intermediate_size");
  config.vocabulary = from.at("vocab_size");
  config.context = from.at("max_position_embeddings");
  config.norm_epsilon = from.at("rms_norm_eps");
  config.tied_embeddings = from.value("tie_word_embeddings", false);
  config.attention_bias = config.architecture == Architecture::qwen2;
  config.query_key_norm = config.architecture == Architecture::qwen3;
  const json rope = from.value("rope_parameters", json::object());
  config.rope_theta = rope.value("rope_theta", from.value("rope_theta", 10000.0));
  if (rope.value("rope_type", "default") == "llama3")
    config.rope_scaling = RopeScaling{rope.at("factor"), rope.at("low_freq_factor"), rope.at("high_freq_factor"),
                                      rope.at("original_max_position_embeddings")};
  return config;
}

WeightType block_type(const std::string& name) {
  if (name == "q4_1") return WeightType::q4_1;
  if (name == "q8_0") return WeightType::q8_0;
  throw Error(fmt::format("no parity test for blocks of {}", name));
}

}  // namespace

FolderWeights::FolderWeights(const std::filesystem::path& folder)
    : config_(config_of(json::parse(read_file(folder / "config.json")))), file_(folder / "model.safetensors") {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const ParameterShape& parameter : parameter_shapes(config_)) shapes[parameter.name] = parameter.shape;
  for (const auto& [key, stored] : file_.tensors()) {
    const std::size_t mark = key.find('#');
    if (mark == std::string::npos) {
      if (stored.meta.dtype != DType::f32) throw Error(fmt::format("{} is not in fp32", key));
      tensors_[key] = {WeightType::f32, stored.meta.sizes, stored.bytes};
    } else {
      const std::string name = key.substr(0, mark);
      tensors_[name] = {block_type(key.substr(mark + 1)), shapes.at(name), stored.bytes};
    }
  }
}

const WeightTensor* FolderWeights::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<std::string> FolderWeights::names() const {
  std::vector<std::string> all;
  for (const auto& entry : tensors_) all.push_back(entry.first);
  return all;
}

}  // namespace cudal1
