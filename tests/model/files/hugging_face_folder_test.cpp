#include "model/files/hugging_face_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"
#include "gguf_builder.hpp"
#include "graph/safetensors_writer.hpp"
#include "model/files/model_tensors.hpp"
#include "model/files/open_model.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
using testing::small_config;

json config_json(Architecture architecture) {
  const ModelConfig sizes = small_config(architecture);
  const char* name = architecture == Architecture::llama   ? "LlamaForCausalLM"
                     : architecture == Architecture::qwen2 ? "Qwen2ForCausalLM"
                                                           : "Qwen3ForCausalLM";
  return {{"architectures", {name}},
          {"num_hidden_layers", sizes.layers},
          {"hidden_size", sizes.hidden},
          {"num_attention_heads", sizes.heads},
          {"num_key_value_heads", sizes.kv_heads},
          {"head_dim", sizes.head_size},
          {"intermediate_size", sizes.feed_forward},
          {"vocab_size", sizes.vocabulary},
          {"max_position_embeddings", sizes.context},
          {"rms_norm_eps", 1e-5},
          {"rope_theta", 10000},
          {"rope_scaling", nullptr},
          {"hidden_act", "silu"},
          {"tie_word_embeddings", false},
          {"eos_token_id", 2},
          {"torch_dtype", "float32"}};
}

//! A model's folder. Its tensors are halves or floats whose values nobody looks at, but for the n-th one's first: n.
class ModelFolder {
 public:
  explicit ModelFolder(Architecture architecture = Architecture::llama) : config(config_json(architecture)) {
    int number = 0;
    for_each_model_tensor(small_config(architecture), [&](const ModelTensor& tensor) {
      Weights& made = weights[tensor.name];
      made.shape = tensor.shape;
      std::size_t elements = 1;
      for (const std::int64_t size : tensor.shape) elements *= static_cast<std::size_t>(size);
      made.values.assign(elements, 0.0f);
      made.values[0] = static_cast<float>(number++);
    });
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }
  const std::filesystem::path& write() const {
    write("config.json", config.dump());
    write_weights("model.safetensors", [](const std::string&) { return true; });
    return folder_.path();
  }
  //! In two files and an index.
  const std::filesystem::path& write_sharded() const {
    write("config.json", config.dump());
    const auto in_first = [](const std::string& name) { return name.find("layers.0") != std::string::npos; };
    write_weights("model-00001-of-00002.safetensors", in_first);
    write_weights("model-00002-of-00002.safetensors", [&](const std::string& name) { return !in_first(name); });
    json index{{"metadata", {{"total_size", 1}}}, {"weight_map", json::object()}};
    for (const auto& [name, tensor] : weights)
      index["weight_map"][name] =
          in_first(name) ? "model-00001-of-00002.safetensors" : "model-00002-of-00002.safetensors";
    write("model.safetensors.index.json", index.dump());
    return folder_.path();
  }
  std::string refusal() const {
    const std::filesystem::path& path = write();
    try {
      const HuggingFaceFolder opened(path);
    } catch (const Error& problem) {
      std::string message = problem.what();
      EXPECT_TRUE(message.starts_with(path.string())) << message;
      return message.substr(path.string().size());
    }
    return {};
  }

  struct Weights {
    std::vector<std::int64_t> shape;
    std::vector<float> values;
  };
  json config;
  std::map<std::string, Weights> weights;

 private:
  void write_weights(const std::string& file, const std::function<bool(const std::string&)>& wanted) const {
    std::vector<WrittenTensor> tensors;
    for (const auto& [name, tensor] : weights)
      if (wanted(name)) tensors.push_back({name, DType::f32, tensor.shape, std::as_bytes(std::span(tensor.values))});
    write_safetensors(tensors, folder_.path() / file);
  }

  TemporaryFolder folder_;
};

float first_value(const WeightTensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  dequantise(tensor, values);
  return values[0];
}

TEST(HuggingFaceFolder, GivesSizesAndTensorsOfEachArchitecture) {
  for (const Architecture architecture : {Architecture::llama, Architecture::qwen2, Architecture::qwen3}) {
    const ModelFolder folder(architecture);
    const std::unique_ptr<ModelWeights> model = open_model(folder.write());
    EXPECT_EQ(model->config().architecture, architecture);
    EXPECT_EQ(model->config().head_size, 32);
    EXPECT_EQ(model->config().attention_bias, architecture == Architecture::qwen2);
    EXPECT_EQ(model->config().query_key_norm, architecture == Architecture::qwen3);
    EXPECT_EQ(model->names().size(), folder.weights.size());
    for (const auto& [name, tensor] : folder.weights) {
      EXPECT_EQ(model->find(name)->shape, tensor.shape) << name;
      EXPECT_EQ(first_value(*model->find(name)), tensor.values[0]) << name;
    }
  }
}

TEST(HuggingFaceFolder, ReadsShardedWeights) {
  const ModelFolder folder;
  const HuggingFaceFolder model(folder.write_sharded());
  for (const auto& [name, tensor] : folder.weights) EXPECT_EQ(first_value(*model.find(name)), tensor.values[0]) << name;
}

TEST(HuggingFaceFolder, RefusesAnIndexThatLiesOrLeadsOutOfTheFolder) {
  const ModelFolder folder;
  const std::filesystem::path& path = folder.write_sharded();
  const auto message = [&](const json& map) {
    folder.write("model.safetensors.index.json", json{{"weight_map", map}}.dump());
    try {
      const HuggingFaceFolder model(path);
    } catch (const Error& problem) {
      return std::string(problem.what());
    }
    return std::string();
  };
  EXPECT_NE(message({{"a", "../../etc/passwd"}}).find("\"../../etc/passwd\" is no file of this folder"),
            std::string::npos);
  EXPECT_NE(message({{"model.norm.weight", "model-00001-of-00002.safetensors"}}).find("is not in model-00001"),
            std::string::npos);
  EXPECT_NE(message({{"a", "absent.safetensors"}}).find("absent.safetensors: No such file"), std::string::npos);
}

TEST(HuggingFaceFolder, UnderstandsOldAndNewRopeSettings) {
  ModelFolder old;
  old.config["rope_theta"] = 500000.0;
  old.config["rope_scaling"] = {{"rope_type", "llama3"},
                                {"factor", 32.0},
                                {"low_freq_factor", 1.0},
                                {"high_freq_factor", 4.0},
                                {"original_max_position_embeddings", 8192}};
  ModelFolder recent;
  recent.config.erase("rope_theta");
  recent.config.erase("rope_scaling");
  recent.config["rope_parameters"] = old.config["rope_scaling"];
  recent.config["rope_parameters"]["rope_theta"] = 500000.0;
  for (const ModelFolder* folder : {&old, &recent}) {
    const HuggingFaceFolder model(folder->write());
    EXPECT_EQ(model.config().rope_theta, 500000.0);
    ASSERT_TRUE(model.config().rope_scaling);
    EXPECT_EQ(model.config().rope_scaling->factor, 32.0);
    EXPECT_EQ(model.config().rope_scaling->high_frequency_factor, 4.0);
    EXPECT_EQ(model.config().rope_scaling->original_context, 8192);
  }
  ModelFolder plain;
  plain.config["rope_parameters"] = {{"rope_theta", 1000000}, {"rope_type", "default"}};
  EXPECT_EQ(HuggingFaceFolder(plain.write()).config().rope_theta, 1000000.0);
  old.config["rope_scaling"]["rope_type"] = "yarn";
  EXPECT_EQ(old.refusal(),
            "/config.json: rope_scaling: stretching of positions by \"yarn\" is not supported; \"llama3\" is");
}

TEST(HuggingFaceFolder, PrefersTheEndTokensOfTheGenerationConfig) {
  const ModelFolder folder;
  EXPECT_EQ(HuggingFaceFolder(folder.write()).end_tokens(), std::vector<std::int32_t>{2});
  folder.write("generation_config.json", R"({"eos_token_id": [5, 3]})");
  EXPECT_EQ(HuggingFaceFolder(folder.write()).end_tokens(), (std::vector<std::int32_t>{5, 3}));
}

TEST(HuggingFaceFolder, TiedModelsHaveNoOutputMatrixWhateverTheFileHas) {
  ModelFolder folder;
  folder.config["tie_word_embeddings"] = true;
  EXPECT_EQ(HuggingFaceFolder(folder.write()).find("lm_head.weight"), nullptr);
  folder.weights.erase("lm_head.weight");
  EXPECT_EQ(folder.refusal(), "");
}

TEST(HuggingFaceFolder, NamesWhatIsMissingWrongOrNotSupported) {
  ModelFolder folder;
  folder.config["num_hidden_layers"] = 3;
  EXPECT_EQ(
      folder.refusal(),
      ": the tensor \"model.layers.2.input_layernorm.weight\" is missing: config.json says 3 layers, but the folder "
      "is not a whole model");
  folder.config["num_hidden_layers"] = 2;
  folder.weights["model.layers.0.mlp.up_proj.bias"] = {{96}, std::vector<float>(96)};
  EXPECT_EQ(folder.refusal(),
            ": the tensor \"model.layers.0.mlp.up_proj.bias\" belongs to no llama model of 2 layers that we know");
}

TEST(HuggingFaceFolder, RefusesVariantsByName) {
  const auto with = [](const char* key, const json& value) {
    ModelFolder folder;
    folder.config[key] = value;
    return folder.refusal();
  };
  EXPECT_EQ(with("architectures", json::array({"PhiForCausalLM"}))
                .find("/config.json: the architecture "
                      "\"PhiForCausalLM\" is not supported"),
            0u);
  EXPECT_EQ(with("hidden_act", "gelu"),
            "/config.json: hidden_act: the activation \"gelu\" is not supported; \"silu\" is");
  EXPECT_EQ(with("use_sliding_window", true), "/config.json: \"use_sliding_window\" is not supported");
  EXPECT_EQ(with("quantization_config", {{"quant_method", "gptq"}}).find("/config.json: \"quantization_config\""), 0u);
  EXPECT_EQ(with("hidden_size", "64"), "/config.json: hidden_size: expected an integer, found string");
  EXPECT_EQ(with("num_attention_heads", 0), "/config.json: a model of 0 heads cannot be");
  EXPECT_NE(with("vocab_size", 9).find("has the shape (8, 64), where the model's sizes ask for (9, 64)"),
            std::string::npos);
}

TEST(OpenModel, SaysWhatAModelIs) {
  const auto message = [](const std::filesystem::path& path) {
    try {
      open_model(path);
    } catch (const Error& problem) {
      return std::string(problem.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("/nowhere/m.gguf").find("/nowhere/m.gguf: there is no such model; `cudal1 models` lists"), 0u);
  const TemporaryFolder empty;
  EXPECT_NE(message(empty.path()).find("the folder has no config.json"), std::string::npos);
  std::ofstream(empty.path() / "text.gguf") << "hello";
  EXPECT_NE(message(empty.path() / "text.gguf").find("not a GGUF file"), std::string::npos);
  EXPECT_NE(message(empty.path() / "absent" / "x").find("there is no such model"), std::string::npos);
}

TEST(ModelSha256, FollowsTheContentAlsoThroughItsMemory) {
  const TemporaryFolder folder;
  ::setenv("CUDAL1_CACHE_DIR", folder.path().c_str(), 1);
  const std::filesystem::path file = folder.path() / "m.gguf";
  std::ofstream(file) << "abc";
  const char* of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(model_sha256(file), of_abc);
  EXPECT_EQ(model_sha256(file), of_abc);
  std::ofstream(file) << "abcd";
  EXPECT_NE(model_sha256(file), of_abc);
  std::ofstream(folder.path() / "models" / ".sha256.json") << R"({"x": 3, ")" << file.string() << R"(": []})";
  EXPECT_EQ(model_sha256(file), "88d4266fd4e6338d13b845fcf289579d209c897823b9217da3e161936f031589");
  ModelFolder model;
  const std::string before = model_sha256(model.write());
  EXPECT_EQ(before, model_sha256(model.write()));
  model.config["rope_theta"] = 3;
  EXPECT_NE(before, model_sha256(model.write()));
  ::unsetenv("CUDAL1_CACHE_DIR");
}

}  // namespace
}  // namespace cudal1
