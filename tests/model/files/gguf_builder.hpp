// GGUF files that tests write themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/gguf_metadata.hpp"
#include "model/files/model_tensors.hpp"
#include "model/model_config.hpp"
#include "model/model_weights.hpp"

namespace cudal1::testing {

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void append_text(std::string& bytes, std::string_view text) {
  append<std::uint64_t>(bytes, text.size());
  bytes += text;
}

//! The format's number of a type.
inline std::uint32_t gguf_number(WeightType type) {
  static const std::map<WeightType, std::uint32_t> numbers{
      {WeightType::f32, 0},   {WeightType::f16, 1},   {WeightType::bf16, 30}, {WeightType::q8_0, 8},
      {WeightType::q4_0, 2},  {WeightType::q4_1, 3},  {WeightType::q5_0, 6},  {WeightType::q5_1, 7},
      {WeightType::q4_k, 12}, {WeightType::q5_k, 13}, {WeightType::q6_k, 14}};
  return numbers.at(type);
}

struct BuiltTensor {
  std::uint32_t type = 0;
  std::vector<std::uint64_t> sizes;  //!< innermost first, as in the file
  std::string bytes;
};

//! What goes into a file; tests change parts of it before they ask for the bytes.
class GgufBuilder {
 public:
  void text(const std::string& key, std::string_view value) { append_text(set(key, GgufKind::text), value); }
  void integer(const std::string& key, std::uint32_t value) { append(set(key, GgufKind::u32), value); }
  void number(const std::string& key, float value) { append(set(key, GgufKind::f32), value); }
  void boolean(const std::string& key, bool value) { append<std::uint8_t>(set(key, GgufKind::boolean), value); }
  void texts(const std::string& key, const std::vector<std::string>& values) {
    std::string& bytes = list(key, GgufKind::text, values.size());
    for (const std::string& value : values) append_text(bytes, value);
  }
  void integers(const std::string& key, const std::vector<std::int32_t>& values) {
    std::string& bytes = list(key, GgufKind::i32, values.size());
    for (const std::int32_t value : values) append(bytes, value);
  }
  //! A value as it lies in the file, of whatever kind.
  std::string& set(const std::string& key, GgufKind kind) {
    std::string& bytes = metadata[key];
    bytes.clear();
    append(bytes, kind);
    return bytes;
  }

  std::string bytes() const {
    std::string file = "GGUF";
    append(file, version);
    append<std::uint64_t>(file, tensors.size());
    append<std::uint64_t>(file, metadata.size());
    for (const auto& [key, value] : metadata) {
      append_text(file, key);
      file += value;
    }
    std::uint64_t offset = 0;
    for (const auto& [name, tensor] : tensors) {
      append_text(file, name);
      append(file, static_cast<std::uint32_t>(tensor.sizes.size()));
      for (const std::uint64_t size : tensor.sizes) append(file, size);
      append(file, tensor.type);
      append(file, offset);
      offset += (tensor.bytes.size() + alignment - 1) / alignment * alignment;
    }
    for (const auto& [name, tensor] : tensors) {
      pad(file);
      file += tensor.bytes;
    }
    return file;
  }

  std::uint32_t version = 3;
  std::uint64_t alignment = 32;
  std::map<std::string, std::string> metadata;  //!< kind and value, as in the file
  std::map<std::string, BuiltTensor> tensors;

 private:
  void pad(std::string& file) const { file.append((alignment - file.size() % alignment) % alignment, '\0'); }
  std::string& list(const std::string& key, GgufKind kind, std::size_t count) {
    std::string& bytes = set(key, GgufKind::array);
    append(bytes, kind);
    append<std::uint64_t>(bytes, count);
    return bytes;
  }
};

//! Two layers of 64 elements; queries have two heads of 32, keys one.
inline ModelConfig small_config(Architecture architecture) {
  ModelConfig config;
  config.architecture = architecture;
  config.layers = 2;
  config.hidden = 64;
  config.heads = 2;
  config.kv_heads = 1;
  config.head_size = 32;
  config.feed_forward = 96;
  config.vocabulary = 8;
  config.context = 128;
  config.attention_bias = architecture == Architecture::qwen2;
  config.query_key_norm = architecture == Architecture::qwen3;
  return config;
}

inline void add_sizes(GgufBuilder& file, const ModelConfig& config) {
  const std::string name(to_string(config.architecture)), prefix = name + ".";
  file.text("general.architecture", name);
  const auto size = [&](const std::string& key, std::int64_t value) {
    file.integer(prefix + key, static_cast<std::uint32_t>(value));
  };
  size("block_count", config.layers);
  size("embedding_length", config.hidden);
  size("attention.head_count", config.heads);
  size("attention.head_count_kv", config.kv_heads);
  size("attention.key_length", config.head_size);
  size("feed_forward_length", config.feed_forward);
  size("context_length", config.context);
  file.number(prefix + "attention.layer_norm_rms_epsilon", static_cast<float>(config.norm_epsilon));
  file.number(prefix + "rope.freq_base", static_cast<float>(config.rope_theta));
}

//! The i-th element of the n-th tensor is n + i / 4096, so that every place can be told from its value.
inline void add_f32_tensors(GgufBuilder& file, const ModelConfig& config) {
  int number = 0;
  for_each_model_tensor(config, [&](const ModelTensor& tensor) {
    BuiltTensor built;
    std::size_t elements = 1;
    for (auto size = tensor.shape.rbegin(); size != tensor.shape.rend(); ++size) {
      built.sizes.push_back(static_cast<std::uint64_t>(*size));
      elements *= static_cast<std::size_t>(*size);
    }
    for (std::size_t i = 0; i < elements; ++i)
      append(built.bytes, static_cast<float>(number) + static_cast<float>(i) / 4096.0f);
    file.tensors[tensor.gguf_name] = built;
    ++number;
  });
}

inline void add_tokenizer(GgufBuilder& file) {
  file.text("tokenizer.ggml.model", "gpt2");
  file.text("tokenizer.ggml.pre", "smollm");
  file.texts("tokenizer.ggml.tokens", {"<|end|>", "<|start|>", "a", "b", "Ġ", "ab", "Ġab", "<user>"});
  file.integers("tokenizer.ggml.token_type", {3, 3, 1, 1, 1, 1, 1, 4});
  file.texts("tokenizer.ggml.merges", {"a b", "Ġ ab"});
  file.integer("tokenizer.ggml.bos_token_id", 1);
  file.integer("tokenizer.ggml.eos_token_id", 0);
  file.text("tokenizer.chat_template", "{{ messages }}");
}

//! A whole model with a tokenizer.
inline GgufBuilder model_file(const ModelConfig& config) {
  GgufBuilder file;
  add_sizes(file, config);
  add_f32_tensors(file, config);
  add_tokenizer(file);
  return file;
}
inline GgufBuilder small_model(Architecture architecture = Architecture::llama) {
  return model_file(small_config(architecture));
}

}  // namespace cudal1::testing
