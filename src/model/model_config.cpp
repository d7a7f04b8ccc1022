#include "model/model_config.hpp"

namespace cudal1 {

std::string_view to_string(Architecture architecture) {
  switch (architecture) {
    case Architecture::llama:
      return "llama";
    case Architecture::qwen2:
      return "qwen2";
    case Architecture::qwen3:
      return "qwen3";
  }
  return "unknown";
}

}  // namespace cudal1
