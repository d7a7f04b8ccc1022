#include "model/files/hugging_face_config.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/result.hpp"
#include "graph/json_place.hpp"
#include "model/files/model_tensors.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_config_bytes = 16 << 20;

nlohmann::json read_json(const fs::path& path) { return parse_json(read_file(path, max_config_bytes), path.string()); }

//! The key's value; nothing also where it is null, as transformers writes what is not set.
std::optional<JsonPlace> set_value(const JsonPlace& place, const std::string& key) {
  const std::optional<JsonPlace> found = place.find(key);
  return found && !found->json().is_null() ? found : std::nullopt;
}

std::int64_t integer_or(const JsonPlace& place, const std::string& key, std::int64_t otherwise) {
  const auto found = set_value(place, key);
  return found ? found->integer() : otherwise;
}

double number_or(const JsonPlace& place, const std::string& key, double otherwise) {
  const auto found = set_value(place, key);
  return found ? found->number() : otherwise;
}

bool boolean_or(const JsonPlace& place, const std::string& key, bool otherwise) {
  const auto found = set_value(place, key);
  return found ? found->boolean() : otherwise;
}

Architecture architecture_of(const JsonPlace& root) {
  const auto list = set_value(root, "architectures");
  if (!list) root.fail("no \"architectures\": not a language model's configuration");
  list->expect_array();
  if (list->size() != 1) list->fail("one architecture is expected");
  const std::string name = list->at(std::size_t{0}).text();
  if (name == "LlamaForCausalLM") return Architecture::llama;
  if (name == "Qwen2ForCausalLM") return Architecture::qwen2;
  if (name == "Qwen3ForCausalLM") return Architecture::qwen3;
  root.fail(fmt::format(
      "the architecture \"{}\" is not supported; LlamaForCausalLM, Qwen2ForCausalLM and Qwen3ForCausalLM are", name));
}

RopeScaling read_llama3_scaling(const JsonPlace& place) {
  RopeScaling scaling;
  scaling.factor = place.at("factor").number();
  scaling.low_frequency_factor = place.at("low_freq_factor").number();
  scaling.high_frequency_factor = place.at("high_freq_factor").number();
  scaling.original_context = place.at("original_max_position_embeddings").integer();
  if (!(scaling.factor >= 1.0) || !(scaling.low_frequency_factor > 0.0) ||
      !(scaling.high_frequency_factor > scaling.low_frequency_factor) || scaling.original_context < 1)
    place.fail("no possible stretching of positions");
  return scaling;
}

void read_rope_scaling(const JsonPlace& place, ModelConfig& config) {
  auto kind = set_value(place, "rope_type");
  if (!kind) kind = set_value(place, "type");  // as transformers before 4.43 called it
  const std::string name = kind ? kind->text() : "default";
  if (name == "llama3")
    config.rope_scaling = read_llama3_scaling(place);
  else if (name != "default")
    place.fail(fmt::format("stretching of positions by \"{}\" is not supported; \"llama3\" is", name));
}

//! transformers 5: {"rope_parameters": {"rope_theta", "rope_type", …}}; before: "rope_theta" and "rope_scaling".
void read_rope(const JsonPlace& root, ModelConfig& config) {
  config.rope_theta = number_or(root, "rope_theta", config.rope_theta);
  if (const auto scaling = set_value(root, "rope_scaling")) read_rope_scaling(*scaling, config);
  const auto parameters = set_value(root, "rope_parameters");
  if (!parameters) return;
  config.rope_theta = number_or(*parameters, "rope_theta", config.rope_theta);
  read_rope_scaling(*parameters, config);
  if (number_or(*parameters, "partial_rotary_factor", 1.0) != 1.0)
    parameters->fail("rotating a part of each head is not supported");
}

void refuse_variants(const JsonPlace& root, const ModelConfig& config) {
  if (set_value(root, "quantization_config"))
    root.fail("\"quantization_config\": weights packed for another program are not supported; take the original model");
  if (const auto activation = set_value(root, "hidden_act"); activation && activation->text() != "silu")
    activation->fail(fmt::format("the activation \"{}\" is not supported; \"silu\" is", activation->text()));
  if (boolean_or(root, "use_sliding_window", false)) root.fail("\"use_sliding_window\" is not supported");
  if (boolean_or(root, "mlp_bias", false)) root.fail("\"mlp_bias\" is not supported");
  if (config.architecture != Architecture::qwen2 && boolean_or(root, "attention_bias", false))
    root.fail("\"attention_bias\" is not supported, except for Qwen2");
  if (number_or(root, "partial_rotary_factor", 1.0) != 1.0) root.fail("\"partial_rotary_factor\" is not supported");
}

std::int32_t token_id(const JsonPlace& place) {
  const std::int64_t id = place.integer();
  if (id < 0 || id > INT32_MAX) place.fail(fmt::format("{} is no token", id));
  return static_cast<std::int32_t>(id);
}

std::vector<std::int32_t> token_ids(const JsonPlace& place) {
  if (!place.json().is_array()) return {token_id(place)};
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < place.size(); ++i) ids.push_back(token_id(place.at(i)));
  return ids;
}

}  // namespace

ModelConfig read_hugging_face_config(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  const nlohmann::json text = read_json(path);
  const JsonPlace root(text, path.string());
  ModelConfig config;
  config.architecture = architecture_of(root);
  config.layers = root.at("num_hidden_layers").integer();
  config.hidden = root.at("hidden_size").integer();
  config.heads = root.at("num_attention_heads").integer();
  if (config.heads < 1) root.fail(fmt::format("a model of {} heads cannot be", config.heads));
  config.kv_heads = integer_or(root, "num_key_value_heads", config.heads);
  // Qwen3's is not hidden / heads, and its class has this default.
  const std::int64_t usual = config.architecture == Architecture::qwen3 ? 128 : config.hidden / config.heads;
  config.head_size = integer_or(root, "head_dim", usual);
  config.feed_forward = root.at("intermediate_size").integer();
  config.vocabulary = root.at("vocab_size").integer();
  config.context = root.at("max_position_embeddings").integer();
  config.norm_epsilon = number_or(root, "rms_norm_eps", 1e-6);
  config.tied_embeddings = boolean_or(root, "tie_word_embeddings", false);
  config.attention_bias = config.architecture == Architecture::qwen2;
  config.query_key_norm = config.architecture == Architecture::qwen3;
  read_rope(root, config);
  refuse_variants(root, config);
  check_config(config, path.string());
  return config;
}

std::vector<std::int32_t> read_end_tokens(const fs::path& folder) {
  for (const char* name : {"generation_config.json", "config.json"}) {
    std::error_code problem;
    if (!fs::exists(folder / name, problem)) continue;
    const nlohmann::json text = read_json(folder / name);
    if (const auto ids = set_value(JsonPlace(text, (folder / name).string()), "eos_token_id")) return token_ids(*ids);
  }
  return {};
}

}  // namespace cudal1
