#include "model/tokenizer/model_tokenizer.hpp"

#include <fmt/format.h>

#include "base/result.hpp"
#include "model/files/gguf_file.hpp"
#include "model/tokenizer/tokenizer_json.hpp"

namespace cudal1 {

TokenizerData tokenizer_of_model(const std::filesystem::path& path, const ModelWeights& weights) {
  if (const auto* gguf = dynamic_cast<const GgufFile*>(&weights)) return gguf->tokenizer();
  const std::filesystem::path file = path / "tokenizer.json";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    throw Error(
        fmt::format("{}: the folder has no tokenizer.json; get it from where the model came from", path.string()));
  return read_tokenizer_json(file);
}

}  // namespace cudal1
