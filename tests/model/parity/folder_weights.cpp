#include "folder_weights.hpp"

#include <fmt/format.h>

#include "base/result.hpp"
#include "model/files/hugging_face_config.hpp"
#include "model/transformer/parameter_names.hpp"

namespace cudal1 {
namespace {

WeightType block_type(const std::string& name) {
  if (name == "q4_1") return WeightType::q4_1;
  if (name == "q8_0") return WeightType::q8_0;
  throw Error(fmt::format("no parity test for blocks of {}", name));
}

}  // namespace

FolderWeights::FolderWeights(const std::filesystem::path& folder)
    : config_(read_hugging_face_config(folder)), file_(folder / "model.safetensors") {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const ParameterShape& parameter : parameter_shapes(config_)) shapes[parameter.name] = parameter.shape;
  for (const auto& [key, stored] : file_.tensors()) {
    const std::size_t mark = key.find('#');
    if (mark == std::string::npos) {
      if (stored.meta.dtype != DType::f32) throw Error(fmt::format("{} is not in fp32", key));
      tensors_[key] = {WeightType::f32, stored.meta.sizes, stored.bytes};
    } else {
      const std::string name = key.substr(0, mark);
      tensors_[name] = {block_type(key.substr(mark + 1)), shapes.at(name), stored.bytes};
    }
  }
}

const WeightTensor* FolderWeights::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<std::string> FolderWeights::names() const {
  std::vector<std::string> all;
  for (const auto& entry : tensors_) all.push_back(entry.first);
  return all;
}

}  // namespace cudal1
