// What tests in Python and of the command need: a model or an adapter as this program sees it.
//   model_tool config MODEL                 sizes, as JSON
//   model_tool tensors MODEL                a line for each tensor: name, type, SHA-256 of its values in fp32, shape
//   model_tool sample FILE                  writes a small GGUF file
//   model_tool writing FILE                 writes one that can be talked to
//   model_tool learning FILE                writes one that an adapter can teach something
//   model_tool adapter MODEL FOLDER COPY    loads an adapter of the model and saves it again
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "gguf_builder.hpp"
#include "model/files/lora_adapter.hpp"
#include "model/files/open_model.hpp"
#include "writing_model.hpp"

namespace cudal1 {
namespace {

void print_config(const ModelWeights& model) {
  const ModelConfig& config = model.config();
  nlohmann::json json{{"architecture", to_string(config.architecture)},
                      {"num_hidden_layers", config.layers},
                      {"hidden_size", config.hidden},
                      {"num_attention_heads", config.heads},
                      {"num_key_value_heads", config.kv_heads},
                      {"head_dim", config.head_size},
                      {"intermediate_size", config.feed_forward},
                      {"vocab_size", config.vocabulary},
                      {"max_position_embeddings", config.context},
                      {"rms_norm_eps", config.norm_epsilon},
                      {"rope_theta", config.rope_theta},
                      {"tie_word_embeddings", config.tied_embeddings},
                      {"end_tokens", model.end_tokens()}};
  if (const auto& scaling = config.rope_scaling)
    json["rope_scaling"] = {scaling->factor, scaling->low_frequency_factor, scaling->high_frequency_factor,
                            scaling->original_context};
  fmt::print("{}\n", json.dump());
}

void print_tensors(const ModelWeights& model) {
  for (const std::string& name : model.names()) {
    const WeightTensor& tensor = *model.find(name);
    std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
    dequantise(tensor, values);
    const std::string hash = sha256_hex({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
    fmt::print("{} {} {} {}\n", name, to_string(tensor.type), hash, fmt::join(tensor.shape, ","));
  }
}

int run(const std::vector<std::string>& words) {
  const std::string what = words.size() > 1 ? words[0] : "";
  if (what.empty()) return 2;
  if (what == "writing") {
    write_file_atomically(words[1], testing::writing_model().bytes());
    return 0;
  }
  if (what == "learning") {
    write_file_atomically(words[1], testing::learning_model().bytes());
    return 0;
  }
  if (what == "sample") {
    write_file_atomically(words[1], testing::small_model().bytes());
    return 0;
  }
  const std::unique_ptr<ModelWeights> model = open_model(words[1]);
  if (what == "config") print_config(*model);
  if (what == "tensors") print_tensors(*model);
  if (what == "adapter") save_lora_adapter(load_lora_adapter(words.at(2)), model->config(), words.at(3));
  return 0;
}

}  // namespace
}  // namespace cudal1

int main(int argc, char** argv) {
  try {
    return cudal1::run({argv + 1, argv + argc});
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
