// A language model in a GGUF file, memory-mapped.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.hpp"
#include "model/files/gguf_contents.hpp"
#include "model/model_weights.hpp"
#include "model/tokenizer_data.hpp"

namespace cudal1 {

struct ModelTensor;

//! Nothing in the file is trusted: whatever is wrong with it throws Error when it is opened.
class GgufFile : public ModelWeights {
 public:
  explicit GgufFile(const std::filesystem::path& path);
  //! Of bytes that outlive it; `name` is for messages.
  GgufFile(std::span<const std::byte> bytes, const std::string& name);

  const ModelConfig& config() const override { return config_; }
  const WeightTensor* find(const std::string& name) const override;
  std::vector<std::string> names() const override;
  std::vector<std::int32_t> end_tokens() const override;

  TokenizerData tokenizer() const;  //!< throws Error where there is none that is supported
  const GgufMetadata& metadata() const { return contents_.metadata; }

 private:
  struct Entry {
    WeightTensor tensor;
    std::int64_t rotated_heads = 0;   //!< whose rows have still to be put into Hugging Face's order
    std::vector<std::byte> own_rows;  //!< in that order
  };

  void read();
  void take(const ModelTensor& wanted);
  void refuse_further_tensors() const;

  std::unique_ptr<MappedFile> mapping_;
  GgufContents contents_;
  ModelConfig config_;
  mutable std::map<std::string, Entry>
      tensors_;  //!< by Hugging Face's name; rows are put in order when first asked for
  mutable std::mutex mutex_;
};

}  // namespace cudal1
