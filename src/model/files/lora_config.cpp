#include "model/files/lora_config.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "graph/json_place.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t max_config_bytes = 16 << 20;
constexpr std::int64_t max_rank = 1 << 16;

// What makes of an adapter something else than W + scale * B A, where it is set.
constexpr const char* unsupported_features[] = {
    "use_dora",        "modules_to_save",         "fan_in_fan_out",    "lora_bias",    "use_qalora",
    "rank_pattern",    "alpha_pattern",           "layer_replication", "use_bdlora",   "trainable_token_indices",
    "megatron_config", "alora_invocation_tokens", "target_parameters", "arrow_config", "kasa_config",
    "velora_config",   "monteclora_config"};

// Initialisations that change the base's own weights as well.
constexpr std::string_view changing_initialisations[] = {"pissa", "olora", "loftq", "corda", "lora_ga"};

bool is_set(const nlohmann::json& value) {
  if (value.is_null()) return false;
  if (value.is_boolean()) return value.get<bool>();
  return !(value.is_array() || value.is_object()) || !value.empty();
}

void refuse_features(const JsonPlace& root) {
  if (const std::string kind = root.at("peft_type").text(); kind != "LORA")
    root.fail(fmt::format("adapters of the kind \"{}\" are not supported; \"LORA\" is", kind));
  for (const char* feature : unsupported_features)
    if (const auto found = root.find(feature); found && is_set(found->json()))
      root.fail(fmt::format("\"{}\" is not supported; train the adapter without it", feature));
  if (const auto bias = root.find("bias"); bias && !bias->json().is_null() && bias->text() != "none")
    root.fail(fmt::format("\"bias\": \"{}\" is not supported; train the adapter with \"none\"", bias->text()));
  const auto start = root.find("init_lora_weights");
  if (!start || !start->json().is_string()) return;
  for (const std::string_view name : changing_initialisations)
    if (start->text().starts_with(name))
      root.fail(fmt::format("\"init_lora_weights\": \"{}\" changes the base's weights, which is not supported",
                            start->text()));
}

nlohmann::json whole_if_it_is(double value) {
  if (value == std::round(value) && std::abs(value) < 1e9) return static_cast<std::int64_t>(value);
  return value;
}

}  // namespace

LoraAdapter read_lora_config(const std::filesystem::path& file) {
  const nlohmann::json text = parse_json(read_file(file, max_config_bytes), file.string());
  const JsonPlace root(text, file.string());
  refuse_features(root);
  LoraAdapter adapter;
  adapter.rank = root.at("r").integer();
  if (adapter.rank < 1 || adapter.rank > max_rank) root.fail(fmt::format("a rank of {} cannot be", adapter.rank));
  adapter.alpha = root.at("lora_alpha").number();
  if (!std::isfinite(adapter.alpha)) root.fail("an alpha that is no number cannot be");
  if (const auto choice = root.find("use_rslora"); choice && !choice->json().is_null())
    adapter.rank_stabilised = choice->boolean();
  if (const auto base = root.find("base_model_name_or_path"); base && !base->json().is_null())
    adapter.base_name = base->text();
  return adapter;
}

std::string lora_config_text(const LoraAdapter& adapter, const std::vector<std::string>& target_modules) {
  const nlohmann::json config{{"peft_type", "LORA"},
                              {"task_type", "CAUSAL_LM"},
                              {"base_model_name_or_path", adapter.base_name},
                              {"r", adapter.rank},
                              {"lora_alpha", whole_if_it_is(adapter.alpha)},
                              {"use_rslora", adapter.rank_stabilised},
                              {"target_modules", target_modules},
                              {"lora_dropout", 0.0},
                              {"bias", "none"},
                              {"fan_in_fan_out", false},
                              {"inference_mode", true}};
  return config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace cudal1
