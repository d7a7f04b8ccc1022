#include "bench_model.hpp"

#include <cstdio>
#include <filesystem>

#include "base/result.hpp"
#include "model/files/model_store.hpp"
#include "model/files/open_model.hpp"
#include "weights_in_memory.hpp"

namespace cudal1::bench {
namespace {

ModelConfig smollm2_shape() {
  ModelConfig config;
  config.layers = 30;
  config.hidden = 576;
  config.heads = 9;
  config.kv_heads = 3;
  config.head_size = 64;
  config.feed_forward = 1536;
  config.vocabulary = 49152;
  config.context = 8192;
  config.rope_theta = 100000.0;
  config.tied_embeddings = true;
  return config;
}

//! For people: no folders of this machine, and the same whatever the file is called here.
std::string name_of(const std::filesystem::path& path) {
  return model_sha256(path) == starting_model.sha256 ? "SmolLM2-135M" : path.filename().string();
}

NamedWeights random_weights(const ModelConfig& config, const std::string& name) {
  auto random = std::make_unique<WeightsInMemory>(config);
  fill_randomly(*random, 1);
  return {std::move(random), name, ""};
}

}  // namespace

NamedWeights chosen_weights(const std::string& model) {
  if (!model.empty()) return {open_model(model), name_of(model), model};
  try {
    const auto path = default_model();
    return {open_model(path), name_of(path), path};
  } catch (const Error& missing) {
    std::fprintf(stderr, "random weights: %s\n", missing.what());
  }
  return random_weights(smollm2_shape(), "random weights of SmolLM2-135M's shape");
}

NamedWeights tiny_weights() {
  ModelConfig config = smollm2_shape();
  config.layers = 2;
  config.hidden = 64;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_size = 16;
  config.feed_forward = 96;
  config.vocabulary = 512;
  return random_weights(config, "a tiny model");
}

std::string short_name(const std::string& gpu) { return gpu.find("H200") != std::string::npos ? "an H200" : gpu; }

}  // namespace cudal1::bench
