// A language model as a Hugging Face folder: config.json and safetensors, memory-mapped.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/safetensors.hpp"
#include "model/model_weights.hpp"

namespace cudal1 {

//! Nothing in the folder is trusted: whatever is wrong with it throws Error when it is opened.
class HuggingFaceFolder : public ModelWeights {
 public:
  explicit HuggingFaceFolder(const std::filesystem::path& folder);

  const ModelConfig& config() const override { return config_; }
  const WeightTensor* find(const std::string& name) const override;
  std::vector<std::string> names() const override;
  std::vector<std::int32_t> end_tokens() const override { return end_tokens_; }

 private:
  void take_file(const std::filesystem::path& file);
  void check_index(const std::filesystem::path& folder) const;
  void check_tensors(const std::string& folder);

  ModelConfig config_;
  std::vector<std::int32_t> end_tokens_;
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
  std::map<std::string, WeightTensor> tensors_;
};

//! The safetensors files of a folder: the one, or those that its index names, sorted. Throws Error.
std::vector<std::filesystem::path> weight_files_in(const std::filesystem::path& folder);

}  // namespace cudal1
