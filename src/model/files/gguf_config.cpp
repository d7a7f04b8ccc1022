#include "model/files/gguf_config.hpp"

#include <fmt/format.h>

#include "model/files/model_tensors.hpp"
#include "model/files/rope_factors.hpp"

namespace cudal1 {
namespace {

Architecture architecture_of(const GgufMetadata& metadata) {
  const auto name = metadata.text("general.architecture");
  if (!name) metadata.fail("no general.architecture: not a language model's file");
  for (const Architecture known : {Architecture::llama, Architecture::qwen2, Architecture::qwen3})
    if (*name == to_string(known)) return known;
  metadata.fail(fmt::format("the architecture \"{}\" is not supported; llama, qwen2 and qwen3 are", *name));
}

//! Keys of the architecture: "llama.block_count".
class ArchitectureKeys {
 public:
  ArchitectureKeys(const GgufMetadata& metadata, Architecture architecture)
      : metadata_(metadata), prefix_(fmt::format("{}.", to_string(architecture))) {}

  std::int64_t needed(const std::string& key) const {
    if (const auto value = metadata_.integer(prefix_ + key)) return *value;
    metadata_.fail(fmt::format("no \"{}{}\"; convert the model again", prefix_, key));
  }
  std::optional<std::int64_t> integer(const std::string& key) const { return metadata_.integer(prefix_ + key); }
  std::optional<double> number(const std::string& key) const { return metadata_.number(prefix_ + key); }
  std::optional<std::string_view> text(const std::string& key) const { return metadata_.text(prefix_ + key); }

 private:
  const GgufMetadata& metadata_;
  std::string prefix_;
};

std::int64_t vocabulary_of(const GgufContents& contents, const ArchitectureKeys& keys) {
  const auto embedding = contents.tensors.find("token_embd.weight");
  if (embedding == contents.tensors.end())
    contents.metadata.fail("the tensor \"token_embd.weight\" is missing: the file is not a whole model");
  const std::int64_t rows = embedding->second.shape.front();
  if (const auto said = keys.integer("vocab_size"); said && *said != rows)
    contents.metadata.fail(fmt::format("{} tokens are said to be there, but the embedding has {} rows", *said, rows));
  return rows;
}

void refuse_variants(const GgufMetadata& metadata, const ArchitectureKeys& keys, const ModelConfig& config) {
  if (keys.integer("expert_count").value_or(0) > 0)
    metadata.fail("a mixture of experts, which is not supported; take a dense model");
  if (const auto window = keys.integer("attention.sliding_window").value_or(0); window > 0 && window < config.context)
    metadata.fail(fmt::format("attention within a sliding window of {} is not supported", window));
  if (keys.integer("attention.value_length").value_or(config.head_size) != config.head_size)
    metadata.fail("values and keys of different sizes are not supported");
  if (const auto rotated = keys.integer("rope.dimension_count").value_or(config.head_size); rotated != config.head_size)
    metadata.fail(fmt::format("rotating {} of a head's {} elements is not supported", rotated, config.head_size));
  if (const auto scaling = keys.text("rope.scaling.type"); scaling && *scaling != "none" && *scaling != "llama3")
    metadata.fail(fmt::format("stretching of positions by \"{}\" is not supported; Llama 3's is", *scaling));
  if (!keys.text("rope.scaling.type") && keys.number("rope.scale_linear").value_or(1.0) != 1.0)
    metadata.fail("stretching of positions by \"linear\" is not supported; Llama 3's is");
}

std::optional<RopeScaling> rope_scaling_of(const GgufContents& contents, const ModelConfig& config) {
  const auto found = contents.tensors.find("rope_freqs.weight");
  if (found == contents.tensors.end()) return std::nullopt;
  const WeightTensor& tensor = found->second;
  std::optional<RopeScaling> scaling;
  if (tensor.elements() == config.head_size / 2) {
    std::vector<float> factors(static_cast<std::size_t>(tensor.elements()));
    dequantise(tensor, factors);
    scaling = scaling_of_factors(factors, config.rope_theta, config.head_size);
  }
  if (!scaling)
    contents.metadata.fail(
        "its \"rope_freqs.weight\" is not what Llama 3's stretching of positions gives; take the model as a Hugging "
        "Face "
        "folder");
  return scaling->factor == 1.0 ? std::nullopt : scaling;
}

}  // namespace

ModelConfig config_of(const GgufContents& contents) {
  const GgufMetadata& metadata = contents.metadata;
  ModelConfig config;
  config.architecture = architecture_of(metadata);
  const ArchitectureKeys keys(metadata, config.architecture);
  config.layers = keys.needed("block_count");
  config.hidden = keys.needed("embedding_length");
  config.heads = keys.needed("attention.head_count");
  config.kv_heads = keys.integer("attention.head_count_kv").value_or(config.heads);
  if (config.heads < 1) metadata.fail(fmt::format("a model of {} heads cannot be", config.heads));
  config.head_size = keys.integer("attention.key_length").value_or(config.hidden / config.heads);
  config.feed_forward = keys.needed("feed_forward_length");
  config.vocabulary = vocabulary_of(contents, keys);
  config.context = keys.needed("context_length");
  const auto epsilon = keys.number("attention.layer_norm_rms_epsilon");
  if (!epsilon) metadata.fail("no attention.layer_norm_rms_epsilon; convert the model again");
  config.norm_epsilon = *epsilon;
  config.rope_theta = keys.number("rope.freq_base").value_or(10000.0);
  config.tied_embeddings = !contents.tensors.contains("output.weight");
  config.attention_bias = config.architecture == Architecture::qwen2 || contents.tensors.contains("blk.0.attn_q.bias");
  config.query_key_norm = config.architecture == Architecture::qwen3;
  check_config(config, metadata.file());
  refuse_variants(metadata, keys, config);
  config.rope_scaling = rope_scaling_of(contents, config);
  return config;
}

}  // namespace cudal1
