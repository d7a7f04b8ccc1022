#include "model/files/hugging_face_folder.hpp"

#include <fmt/format.h>

#include <set>

#include "base/files.hpp"
#include "base/result.hpp"
#include "graph/json_place.hpp"
#include "model/files/hugging_face_config.hpp"
#include "model/files/model_tensors.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_index_bytes = 64 << 20;
constexpr const char* single_file = "model.safetensors";
constexpr const char* index_file = "model.safetensors.index.json";

WeightType weight_type(DType dtype, const std::string& name, const fs::path& file) {
  if (dtype == DType::f32) return WeightType::f32;
  if (dtype == DType::f16) return WeightType::f16;
  if (dtype == DType::bf16) return WeightType::bf16;
  throw Error(fmt::format("{}: the tensor \"{}\" is stored as {}, which is not supported; F32, F16 and BF16 are",
                          file.string(), name, stored_name(dtype)));
}

//! Tables that old versions of transformers saved beside the weights.
bool is_known_extra(const std::string& name) { return name.ends_with(".rotary_emb.inv_freq"); }

//! Tensor to file. Names of files come from the index: none may lead out of the folder.
std::map<std::string, std::string> read_index(const fs::path& path) {
  const nlohmann::json text = parse_json(read_file(path, max_index_bytes), path.string());
  const JsonPlace map = JsonPlace(text, path.string()).at("weight_map");
  if (!map.json().is_object()) map.fail("expected an object");
  std::map<std::string, std::string> files;
  for (const auto& [tensor, ignored] : map.json().items()) {
    const std::string file = map.at(tensor).text();
    if (file.empty() || file.front() == '.' || file.find('/') != std::string::npos)
      map.at(tensor).fail(fmt::format("\"{}\" is no file of this folder", file));
    files.emplace(tensor, file);
  }
  if (files.empty()) map.fail("no tensors");
  return files;
}

bool is_there(const fs::path& path) {
  std::error_code problem;
  return fs::exists(path, problem);
}

}  // namespace

std::vector<fs::path> weight_files_in(const fs::path& folder) {
  if (is_there(folder / single_file)) return {folder / single_file};
  if (!is_there(folder / index_file))
    throw Error(fmt::format("{}: there is neither {} nor {}; the folder is not a whole model", folder.string(),
                            single_file, index_file));
  std::set<fs::path> files;
  for (const auto& [tensor, file] : read_index(folder / index_file)) files.insert(folder / file);
  return {files.begin(), files.end()};
}

HuggingFaceFolder::HuggingFaceFolder(const fs::path& folder)
    : config_(read_hugging_face_config(folder)), end_tokens_(read_end_tokens(folder)) {
  for (const fs::path& file : weight_files_in(folder)) take_file(file);
  check_index(folder);
  check_tensors(folder.string());
}

void HuggingFaceFolder::check_index(const fs::path& folder) const {
  if (is_there(folder / single_file)) return;
  for (const auto& [tensor, file] : read_index(folder / index_file))
    if (!tensors_.contains(tensor) && !is_known_extra(tensor))
      throw Error(fmt::format("{}: the tensor \"{}\" is not in {}, where the index says it is; fetch it again",
                              folder.string(), tensor, file));
}

void HuggingFaceFolder::take_file(const fs::path& path) {
  files_.push_back(std::make_unique<SafetensorsFile>(path));
  for (const auto& [name, stored] : files_.back()->tensors()) {
    if (is_known_extra(name)) continue;
    const WeightTensor tensor{weight_type(stored.meta.dtype, name, path), stored.meta.sizes, stored.bytes};
    if (!tensors_.emplace(name, tensor).second)
      throw Error(fmt::format("{}: the tensor \"{}\" is also in another file of the folder", path.string(), name));
  }
}

void HuggingFaceFolder::check_tensors(const std::string& folder) {
  if (config_.tied_embeddings) tensors_.erase("lm_head.weight");  // transformers takes no notice of it either
  std::set<std::string> known;
  for_each_model_tensor(config_, [&](const ModelTensor& wanted) {
    const WeightTensor* found = find(wanted.name);
    if (!found)
      throw Error(fmt::format(
          "{}: the tensor \"{}\" is missing: config.json says {} layers, but the folder is not a whole model", folder,
          wanted.name, config_.layers));
    check_shape(*found, wanted, wanted.name, folder);
    known.insert(wanted.name);
  });
  for (const auto& [name, tensor] : tensors_)
    if (!known.contains(name))
      throw Error(fmt::format("{}: the tensor \"{}\" belongs to no {} model of {} layers that we know", folder, name,
                              to_string(config_.architecture), config_.layers));
}

const WeightTensor* HuggingFaceFolder::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<std::string> HuggingFaceFolder::names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

}  // namespace cudal1
