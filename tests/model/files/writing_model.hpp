// A model of two layers with random weights that speaks bytes: what it says means nothing, but it says it like others.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "gguf_builder.hpp"
#include "model/tokenizer/byte_alphabet.hpp"

namespace cudal1::testing {

inline constexpr int writing_vocabulary = 260;

//! Bytes, and what these merges ("u s") make of them.
inline void add_byte_tokenizer(GgufBuilder& file, const std::vector<std::string>& merges = {"u s"}) {
  std::vector<std::string> tokens{"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
  std::vector<std::int32_t> kinds{3, 3, 3};
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(letter_of_byte(static_cast<unsigned char>(byte)));
  for (const std::string& merge : merges) {
    const std::size_t space = merge.find(' ');
    tokens.push_back(merge.substr(0, space) + merge.substr(space + 1));
  }
  kinds.resize(tokens.size(), 1);
  file.text("tokenizer.ggml.model", "gpt2");
  file.text("tokenizer.ggml.pre", "smollm");
  file.texts("tokenizer.ggml.tokens", tokens);
  file.integers("tokenizer.ggml.token_type", kinds);
  file.texts("tokenizer.ggml.merges", merges);
  file.integer("tokenizer.ggml.bos_token_id", 1);
  file.integer("tokenizer.ggml.eos_token_id", 2);
  file.text(
      "tokenizer.chat_template",
      "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
      "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}");
}

inline void add_random_tensors(GgufBuilder& file, const ModelConfig& config, Random random) {
  add_f32_tensors(file, config);
  for (auto& [name, tensor] : file.tensors) {
    const std::size_t elements = tensor.bytes.size() / sizeof(float);
    tensor.bytes.clear();
    const bool is_norm = name.find("norm") != std::string::npos;
    for (std::size_t i = 0; i < elements; ++i)
      append(tensor.bytes, is_norm ? 1.0F : static_cast<float>(random.uniform() - 0.5) * 0.4F);
  }
}

inline GgufBuilder writing_model(std::int64_t context = 2048) {
  ModelConfig config = small_config(Architecture::llama);
  config.vocabulary = writing_vocabulary;
  config.context = context;
  GgufBuilder file;
  add_sizes(file, config);
  add_random_tensors(file, config, Random(7));
  add_byte_tokenizer(file);
  return file;
}

//! Merges that make one token of each of these words, with the blank before it where it has one.
inline std::vector<std::string> merges_of(const std::vector<std::string>& words) {
  std::vector<std::string> merges;
  std::set<std::string> known;
  for (const std::string& word : words) {
    std::string made;
    for (const unsigned char byte : word) {
      const std::string letter(letter_of_byte(byte));
      if (!made.empty() && known.insert(made + letter).second) merges.push_back(made + " " + letter);
      made += letter;
    }
  }
  return merges;
}

//! Larger, with scores that can be far apart and words that prompts and programs are made of: an adapter can teach it
//! to write some.
inline GgufBuilder learning_model() {
  const std::vector<std::string> merges =
      merges_of({"//!",      " fuse",    " block",   " items",     " vector",  " graph",    "Analysis",   " first",
                 " second",  " best",    " try",     " no",        " one",     " program",  " programs",  " Program",
                 " score",   " the",     "Task",     " pointwise", " NVIDIA",  " on",       " out",       " Write",
                 " with",    " which",   " fastest", " what",      " Then",    " faster",   " directive", " lines",
                 " only",    " Same",    " results", " same",      " sizes",   " nothing",  " kept",      " between",
                 " calls",   " why",     " line",    " is",        " to",      " in",       "out",        "Write",
                 "Program",  " add",     " mul",     " sub",       " relu",    " gelu",     " sigmoid",   " tanh",
                 " minimum", " maximum", "minimum",  "maximum",    "relu",     "gelu",      "sigmoid",    "tanh",
                 "erf",      " erf",     "silu",     " silu",      "softplus", " softplus", "square",     " square"});
  ModelConfig config = small_config(Architecture::llama);
  config.vocabulary = static_cast<std::int64_t>(3 + 256 + merges.size());
  config.context = 2048;
  config.layers = 3;
  config.hidden = 128;
  config.heads = 4;
  config.kv_heads = 4;
  config.head_size = 32;
  config.feed_forward = 256;
  GgufBuilder file;
  add_sizes(file, config);
  add_random_tensors(file, config, Random(11));
  add_byte_tokenizer(file, merges);
  return file;
}

}  // namespace cudal1::testing
