#include "model/files/lora_adapter.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.hpp"
#include "base/result.hpp"
#include "gguf_builder.hpp"
#include "graph/safetensors.hpp"
#include "graph/safetensors_writer.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

const ModelConfig model = testing::small_config(Architecture::llama);

LoraModule made_module(std::int64_t out, std::int64_t in, std::int64_t rank, float first) {
  LoraModule module{out, in, {}, {}};
  for (std::int64_t i = 0; i < rank * in; ++i) module.a.push_back(first + static_cast<float>(i) / 64.0f);
  for (std::int64_t i = 0; i < out * rank; ++i) module.b.push_back(-first - static_cast<float>(i) / 64.0f);
  return module;
}

LoraAdapter sample_adapter() {
  LoraAdapter adapter;
  adapter.rank = 4;
  adapter.alpha = 6.0;
  adapter.base_name = "small.gguf";
  adapter.base_sha256 = std::string(64, 'a');
  for (int layer = 0; layer < 2; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    adapter.modules[prefix + "self_attn.q_proj"] = made_module(64, 64, 4, static_cast<float>(layer));
    adapter.modules[prefix + "mlp.down_proj"] = made_module(64, 96, 4, static_cast<float>(layer) + 0.5f);
  }
  return adapter;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& problem) {
    return problem.what();
  }
  return {};
}

//! What loading says where the saved configuration has been changed.
std::string refusal_with(const char* key, const json& value) {
  const TemporaryFolder folder;
  save_lora_adapter(sample_adapter(), model, folder.path());
  json config = json::parse(read_file(folder.path() / "adapter_config.json"));
  config[key] = value;
  write_file_atomically(folder.path() / "adapter_config.json", config.dump());
  const std::string message = message_of([&] { load_lora_adapter(folder.path()); });
  const std::string prefix = (folder.path() / "adapter_config.json").string() + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

TEST(LoraAdapter, SurvivesItsFiles) {
  const TemporaryFolder folder;
  const LoraAdapter saved = sample_adapter();
  save_lora_adapter(saved, model, folder.path() / "new" / "adapter");
  const LoraAdapter loaded = load_lora_adapter(folder.path() / "new" / "adapter");
  EXPECT_EQ(loaded.rank, 4);
  EXPECT_EQ(loaded.alpha, 6.0);
  EXPECT_EQ(loaded.base_sha256, saved.base_sha256);
  EXPECT_EQ(loaded.base_name, "small.gguf");
  ASSERT_EQ(loaded.modules.size(), saved.modules.size());
  for (const auto& [path, module] : saved.modules) {
    EXPECT_EQ(loaded.modules.at(path).a, module.a) << path;
    EXPECT_EQ(loaded.modules.at(path).b, module.b) << path;
    EXPECT_EQ(loaded.modules.at(path).out, module.out) << path;
  }
  EXPECT_NO_THROW(check_adapter(loaded, model, "adapter"));
}

TEST(LoraAdapter, ScalesByTheRankOrItsRoot) {
  LoraAdapter adapter = sample_adapter();
  EXPECT_EQ(adapter.scale(), 1.5);
  adapter.rank_stabilised = true;
  EXPECT_EQ(adapter.scale(), 3.0);
  const TemporaryFolder folder;
  save_lora_adapter(adapter, model, folder.path());
  EXPECT_TRUE(load_lora_adapter(folder.path()).rank_stabilised);
}

TEST(LoraAdapter, ReadsHalvesAsWell) {
  const TemporaryFolder folder;
  save_lora_adapter(sample_adapter(), model, folder.path());
  const std::vector<std::uint16_t> a(4 * 64, 0x3c00), b(64 * 4, 0xbf80);
  const std::string name = "base_model.model.model.layers.0.self_attn.v_proj.lora_";
  write_safetensors({{name + "A.weight", DType::f16, {4, 64}, std::as_bytes(std::span(a))},
                     {name + "B.weight", DType::bf16, {64, 4}, std::as_bytes(std::span(b))}},
                    folder.path() / "adapter_model.safetensors");
  const LoraAdapter loaded = load_lora_adapter(folder.path());
  EXPECT_EQ(loaded.modules.at("model.layers.0.self_attn.v_proj").a[7], 1.0f);
  EXPECT_EQ(loaded.modules.at("model.layers.0.self_attn.v_proj").b[7], -1.0f);
}

TEST(LoraAdapter, InBf16TakesHalfTheRoomAndIsRoundedToTheNearest) {
  const TemporaryFolder folder;
  LoraAdapter saved = sample_adapter();
  std::vector<float>& numbers = saved.modules.at("model.layers.0.self_attn.q_proj").a;
  // bf16 has eight bits: between 1 and 2 it has steps of 1/128, and halves of them go to the even neighbour.
  constexpr float step = 1.0f / 128;
  const std::vector<std::pair<float, float>> rounded{{1.0f + step / 4, 1.0f},
                                                     {1.0f + 3 * step / 4, 1.0f + step},
                                                     {1.0f + step / 2, 1.0f},
                                                     {1.0f + 3 * step / 2, 1.0f + 2 * step},
                                                     {-1.0f - 3 * step / 4, -1.0f - step},
                                                     {0.0f, 0.0f}};
  for (std::size_t i = 0; i < rounded.size(); ++i) numbers[i] = rounded[i].first;
  save_lora_adapter(saved, model, folder.path() / "wide");
  save_lora_adapter(saved, model, folder.path() / "narrow", AdapterStorage::bf16);
  copy_lora_adapter(folder.path() / "wide", folder.path() / "copy", AdapterStorage::bf16);
  const auto weights = [&](const char* name) { return read_file(folder.path() / name / "adapter_model.safetensors"); };
  EXPECT_LT(weights("narrow").size(), 0.6 * static_cast<double>(weights("wide").size()));
  EXPECT_EQ(weights("copy"), weights("narrow"));
  for (const char* file : {"adapter_config.json", "base.json"})
    EXPECT_EQ(read_file(folder.path() / "copy" / file), read_file(folder.path() / "narrow" / file)) << file;
  const LoraAdapter loaded = load_lora_adapter(folder.path() / "copy");
  EXPECT_EQ(loaded.base_sha256, saved.base_sha256);
  EXPECT_NO_THROW(check_adapter(loaded, model, "copy"));
  const std::vector<float>& read = loaded.modules.at("model.layers.0.self_attn.q_proj").a;
  for (std::size_t i = 0; i < rounded.size(); ++i) EXPECT_EQ(read[i], rounded[i].second) << rounded[i].first;
}

TEST(LoraAdapter, WhatBf16CannotHoldIsRefused) {
  const TemporaryFolder folder;
  LoraAdapter adapter = sample_adapter();
  adapter.modules.at("model.layers.0.self_attn.q_proj").b[2] = std::numeric_limits<float>::max();
  const std::string message =
      message_of([&] { save_lora_adapter(adapter, model, folder.path(), AdapterStorage::bf16); });
  EXPECT_NE(message.find("q_proj.lora_B.weight\" has a value that bf16 cannot hold"), std::string::npos) << message;
}

TEST(LoraAdapter, SaysThatItIsForAnotherModel) {
  LoraAdapter adapter = sample_adapter();
  adapter.modules["model.layers.0.mlp.up_proj"] = made_module(80, 64, 4, 0);
  EXPECT_EQ(
      message_of([&] { check_adapter(adapter, model, "mine"); }),
      "mine: an adapter for another model: \"model.layers.0.mlp.up_proj\" goes from 64 to 80 elements there, from 64 "
      "to 96 in this one");
  adapter = sample_adapter();
  adapter.modules["model.layers.2.mlp.up_proj"] = made_module(96, 64, 4, 0);
  EXPECT_EQ(
      message_of([&] { check_adapter(adapter, model, "mine"); }),
      "mine: an adapter for another model: this one, of 2 layers, has no linear layer \"model.layers.2.mlp.up_proj\"");
}

TEST(LoraAdapter, WarnsOfAnotherBaseFile) {
  LoraAdapter adapter = sample_adapter();
  EXPECT_EQ(base_warning(adapter, std::string(64, 'a'), "mine"), "");
  const std::string warning = base_warning(adapter, std::string(64, 'b'), "mine");
  EXPECT_NE(warning.find("trained on another base (small.gguf, SHA-256 aaaaaaaaaaaa"), std::string::npos) << warning;
  adapter.base_sha256.clear();
  EXPECT_EQ(base_warning(adapter, std::string(64, 'b'), "mine"), "");
  const TemporaryFolder folder;
  save_lora_adapter(sample_adapter(), model, folder.path());
  save_lora_adapter(adapter, model, folder.path());  // the hash of the one before goes with it
  EXPECT_EQ(load_lora_adapter(folder.path()).base_sha256, "");
}

TEST(LoraAdapter, RefusesFeaturesOfPeftByName) {
  EXPECT_EQ(refusal_with("peft_type", "IA3"), "adapters of the kind \"IA3\" are not supported; \"LORA\" is");
  EXPECT_EQ(refusal_with("use_dora", true), "\"use_dora\" is not supported; train the adapter without it");
  EXPECT_EQ(refusal_with("modules_to_save", json::array({"lm_head"})),
            "\"modules_to_save\" is not supported; train the adapter without it");
  EXPECT_EQ(refusal_with("bias", "all"), "\"bias\": \"all\" is not supported; train the adapter with \"none\"");
  EXPECT_EQ(refusal_with("rank_pattern", {{"q_proj", 8}}),
            "\"rank_pattern\" is not supported; train the adapter without it");
  EXPECT_EQ(refusal_with("init_lora_weights", "pissa_niter_4"),
            "\"init_lora_weights\": \"pissa_niter_4\" changes the base's weights, which is not supported");
  EXPECT_EQ(refusal_with("r", 0), "a rank of 0 cannot be");
  EXPECT_EQ(refusal_with("rank_pattern", json::object()), "");
  EXPECT_EQ(refusal_with("init_lora_weights", true), "");
}

TEST(LoraAdapter, RefusesDamagedWeights) {
  const TemporaryFolder folder;
  EXPECT_NE(message_of([&] { load_lora_adapter(folder.path()); }).find("no adapter_config.json there"),
            std::string::npos);
  save_lora_adapter(sample_adapter(), model, folder.path());
  const auto with = [&](const std::vector<WrittenTensor>& tensors) {
    write_safetensors(tensors, folder.path() / "adapter_model.safetensors");
    const std::string message = message_of([&] { load_lora_adapter(folder.path()); });
    return message.substr(std::min(message.size(), (folder.path() / "adapter_model.safetensors: ").string().size()));
  };
  std::vector<float> values(4 * 64);
  const std::string name = "base_model.model.model.layers.0.self_attn.q_proj.lora_";
  const auto bytes = std::as_bytes(std::span(values));
  EXPECT_EQ(with({}), "the adapter adapts nothing");
  EXPECT_EQ(with({{name + "A.weight", DType::f32, {4, 64}, bytes}}),
            "\"model.layers.0.self_attn.q_proj\" has only one of its two matrices: the file is damaged");
  EXPECT_EQ(with({{name + "A.weight", DType::f32, {8, 32}, bytes}}),
            "\"" + name + "A.weight\" has the shape f32[8, 32], where the rank is 4");
  EXPECT_EQ(with({{name + "magnitude", DType::f32, {4, 64}, bytes}}).find("\"" + name + "magnitude\" is no part"), 0u);
  values[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(with({{name + "A.weight", DType::f32, {4, 64}, bytes}}),
            "\"" + name + "A.weight\" has values that are not finite");
}

TEST(LoraAdapter, FindsOutThatItsWeightsAreCutOff) {
  const TemporaryFolder folder;
  save_lora_adapter(sample_adapter(), model, folder.path());
  const std::filesystem::path file = folder.path() / "adapter_model.safetensors";
  const std::string bytes = read_file(file);
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    write_file_atomically(file, bytes.substr(0, size));
    EXPECT_THROW(load_lora_adapter(folder.path()), Error) << size;
  }
}

TEST(LoraAdapter, NamesItsModulesShortlyOnlyWhereEveryLayerHasThem) {
  const TemporaryFolder folder;
  const auto targets = [&](const LoraAdapter& adapter) {
    save_lora_adapter(adapter, model, folder.path());
    return json::parse(read_file(folder.path() / "adapter_config.json"))["target_modules"];
  };
  LoraAdapter adapter = sample_adapter();
  EXPECT_EQ(targets(adapter), json::array({"down_proj", "q_proj"}));
  adapter.modules.erase("model.layers.1.mlp.down_proj");
  EXPECT_EQ(targets(adapter), json::array({"model.layers.0.mlp.down_proj", "model.layers.0.self_attn.q_proj",
                                           "model.layers.1.self_attn.q_proj"}));
}

}  // namespace
}  // namespace cudal1
