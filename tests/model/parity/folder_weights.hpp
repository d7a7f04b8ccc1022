// A folder with config.json and model.safetensors as transformers writes it, for parity tests only. Tensors may also be
// blocks of a GGUF file: "NAME#q4_1", bytes in the order of NAME's rows.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "graph/safetensors.hpp"
#include "model/model_weights.hpp"

namespace cudal1 {

class FolderWeights final : public ModelWeights {
 public:
  explicit FolderWeights(const std::filesystem::path& folder);

  const ModelConfig& config() const override { return config_; }
  const WeightTensor* find(const std::string& name) const override;
  std::vector<std::string> names() const override;

 private:
  ModelConfig config_;
  SafetensorsFile file_;
  std::map<std::string, WeightTensor> tensors_;
};

}  // namespace cudal1
