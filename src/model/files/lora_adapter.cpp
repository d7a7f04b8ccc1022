#include "model/files/lora_adapter.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "base/files.hpp"
#include "base/result.hpp"
#include "graph/json_place.hpp"
#include "graph/safetensors.hpp"
#include "graph/safetensors_writer.hpp"
#include "model/files/half_floats.hpp"
#include "model/files/lora_config.hpp"
#include "model/files/model_tensors.hpp"
#include "model/model_weights.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr const char *config_file = "adapter_config.json", *weights_file = "adapter_model.safetensors",
                     *base_file = "base.json";
constexpr std::string_view prefix = "base_model.model.", a_suffix = ".lora_A.weight", b_suffix = ".lora_B.weight";
constexpr std::size_t max_base_bytes = 1 << 20;

std::vector<float> values_of(const StoredTensor& stored, const std::string& name, const std::string& file) {
  WeightTensor tensor{WeightType::f32, stored.meta.sizes, stored.bytes};
  if (stored.meta.dtype == DType::f16)
    tensor.type = WeightType::f16;
  else if (stored.meta.dtype == DType::bf16)
    tensor.type = WeightType::bf16;
  else if (stored.meta.dtype != DType::f32)
    throw Error(fmt::format("{}: \"{}\" is stored as {}; F32, F16 and BF16 are supported", file, name,
                            stored_name(stored.meta.dtype)));
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  dequantise(tensor, values);
  for (const float value : values)
    if (!std::isfinite(value)) throw Error(fmt::format("{}: \"{}\" has values that are not finite", file, name));
  return values;
}

//! One file's tensors become modules, A and B in any order.
class ModuleReader {
 public:
  ModuleReader(LoraAdapter& adapter, std::string file) : adapter_(adapter), file_(std::move(file)) {}

  void take(const std::string& name, const StoredTensor& stored) {
    const bool is_a = name.ends_with(a_suffix), is_b = name.ends_with(b_suffix);
    if (!name.starts_with(prefix) || !(is_a || is_b))
      throw Error(fmt::format(
          "{}: \"{}\" is no part of a plain adapter of linear layers, which is all that is supported", file_, name));
    const std::size_t suffix = is_a ? a_suffix.size() : b_suffix.size();
    LoraModule& module = adapter_.modules[name.substr(prefix.size(), name.size() - prefix.size() - suffix)];
    const std::vector<std::int64_t>& sizes = stored.meta.sizes;
    if (sizes.size() != 2 || sizes[is_a ? 0 : 1] != adapter_.rank || sizes[is_a ? 1 : 0] < 1)
      throw Error(fmt::format("{}: \"{}\" has the shape {}, where the rank is {}", file_, name, to_string(stored.meta),
                              adapter_.rank));
    (is_a ? module.in : module.out) = sizes[is_a ? 1 : 0];
    (is_a ? module.a : module.b) = values_of(stored, name, file_);
  }

  void check_pairs() const {
    if (adapter_.modules.empty()) throw Error(fmt::format("{}: the adapter adapts nothing", file_));
    for (const auto& [path, module] : adapter_.modules)
      if (module.in == 0 || module.out == 0)
        throw Error(fmt::format("{}: \"{}\" has only one of its two matrices: the file is damaged", file_, path));
  }

 private:
  LoraAdapter& adapter_;
  std::string file_;
};

void read_base(const fs::path& file, LoraAdapter& adapter) {
  std::error_code problem;
  if (!fs::exists(file, problem)) return;
  const nlohmann::json text = parse_json(read_file(file, max_base_bytes), file.string());
  const JsonPlace root(text, file.string());
  adapter.base_sha256 = root.at("sha256").text();
  adapter.base_name = root.at("name").text();
}

const LinearModule* linear_module_of(const std::vector<LinearModule>& modules, const std::string& path,
                                     std::int64_t layers) {
  for (const LinearModule& module : modules)
    for (std::int64_t layer = 0; path.ends_with(module.name) && layer < layers; ++layer)
      if (path == fmt::format("model.layers.{}.{}", layer, module.name)) return &module;
  return nullptr;
}

//! An adapter's matrices as they are written.
class StoredMatrices {
 public:
  StoredMatrices(const LoraAdapter& adapter, AdapterStorage storage, std::string name)
      : storage_(storage), name_(std::move(name)) {
    for (const auto& [path, module] : adapter.modules) {
      add(fmt::format("{}{}{}", prefix, path, a_suffix), {adapter.rank, module.in}, module.a);
      add(fmt::format("{}{}{}", prefix, path, b_suffix), {module.out, adapter.rank}, module.b);
    }
  }

  const std::vector<WrittenTensor>& tensors() const { return tensors_; }

 private:
  void add(std::string name, std::vector<std::int64_t> sizes, const std::vector<float>& values) {
    if (storage_ == AdapterStorage::f32) {
      tensors_.push_back({std::move(name), DType::f32, std::move(sizes), std::as_bytes(std::span(values))});
      return;
    }
    rounded_.push_back(rounded(name, values));
    tensors_.push_back(
        {std::move(name), DType::bf16, std::move(sizes), std::as_bytes(std::span(std::as_const(rounded_.back())))});
  }

  std::vector<std::uint16_t> rounded(const std::string& name, const std::vector<float>& values) const {
    std::vector<std::uint16_t> made;
    made.reserve(values.size());
    for (const float value : values) {
      made.push_back(std::isfinite(value) ? bf16_of_float(value) : std::uint16_t{0x7f80});
      if (!std::isfinite(float_of_bf16(made.back())))
        throw Error(fmt::format("{}: \"{}\" has a value that bf16 cannot hold: {}", name_, name, value));
    }
    return made;
  }

  AdapterStorage storage_;
  std::string name_;
  std::deque<std::vector<std::uint16_t>> rounded_;  // stay where they are: tensors point into them
  std::vector<WrittenTensor> tensors_;
};

//! The last words of the paths ("q_proj"), if they mean these modules in all layers, else the whole paths.
std::vector<std::string> target_modules(const LoraAdapter& adapter, const ModelConfig& config) {
  std::set<std::string> last_words, paths;
  for (const auto& [path, module] : adapter.modules) {
    last_words.insert(path.substr(path.rfind('.') + 1));
    paths.insert(path);
  }
  const bool everywhere = paths.size() == last_words.size() * static_cast<std::size_t>(config.layers);
  const std::set<std::string>& chosen = everywhere ? last_words : paths;
  return {chosen.begin(), chosen.end()};
}

}  // namespace

double LoraAdapter::scale() const {
  return alpha / (rank_stabilised ? std::sqrt(static_cast<double>(rank)) : static_cast<double>(rank));
}

LoraAdapter load_lora_adapter(const fs::path& folder) {
  std::error_code problem;
  if (!fs::exists(folder / config_file, problem))
    throw Error(fmt::format("{}: no {} there; an adapter is a folder as PEFT saves it", folder.string(), config_file));
  LoraAdapter adapter = read_lora_config(folder / config_file);
  const fs::path weights = folder / weights_file;
  if (!fs::exists(weights, problem))
    throw Error(fmt::format("{}: no {} there; save the adapter as safetensors", folder.string(), weights_file));
  const SafetensorsFile file(weights);
  ModuleReader reader(adapter, weights.string());
  for (const auto& [name, stored] : file.tensors()) reader.take(name, stored);
  reader.check_pairs();
  read_base(folder / base_file, adapter);
  return adapter;
}

void check_adapter(const LoraAdapter& adapter, const ModelConfig& config, const std::string& adapter_name) {
  const std::vector<LinearModule> modules = linear_modules(config);
  for (const auto& [path, module] : adapter.modules) {
    const LinearModule* wanted = linear_module_of(modules, path, config.layers);
    if (!wanted)
      throw Error(fmt::format("{}: an adapter for another model: this one, of {} layers, has no linear layer \"{}\"",
                              adapter_name, config.layers, path));
    if (module.in != wanted->in || module.out != wanted->out)
      throw Error(
          fmt::format("{}: an adapter for another model: \"{}\" goes from {} to {} elements there, from {} to {} "
                      "in this one",
                      adapter_name, path, module.in, module.out, wanted->in, wanted->out));
    if (adapter.rank < 1 || module.a.size() != static_cast<std::size_t>(adapter.rank * module.in) ||
        module.b.size() != static_cast<std::size_t>(module.out * adapter.rank))
      throw Error(fmt::format("{}: \"{}\" does not have matrices of rank {}", adapter_name, path, adapter.rank));
  }
}

void save_lora_adapter(const LoraAdapter& adapter, const ModelConfig& config, const fs::path& folder,
                       AdapterStorage storage) {
  check_adapter(adapter, config, folder.string());
  std::error_code problem;
  fs::create_directories(folder, problem);
  write_safetensors(StoredMatrices(adapter, storage, folder.string()).tensors(), folder / weights_file);
  write_file_atomically(folder / config_file, lora_config_text(adapter, target_modules(adapter, config)));
  if (adapter.base_sha256.empty()) {
    std::remove((folder / base_file).c_str());  // of an adapter that was here before
    return;
  }
  const nlohmann::json base{{"sha256", adapter.base_sha256}, {"name", adapter.base_name}};
  write_file_atomically(folder / base_file, base.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void copy_lora_adapter(const fs::path& from, const fs::path& to, AdapterStorage storage) {
  const LoraAdapter adapter = load_lora_adapter(from);
  std::error_code problem;
  fs::create_directories(to, problem);
  write_safetensors(StoredMatrices(adapter, storage, from.string()).tensors(), to / weights_file);
  write_file_atomically(to / config_file, read_file(from / config_file));
  if (fs::exists(from / base_file, problem))
    write_file_atomically(to / base_file, read_file(from / base_file));
  else
    std::remove((to / base_file).c_str());  // of an adapter that was there before
}

std::string base_warning(const LoraAdapter& adapter, std::string_view model_sha256, const std::string& adapter_name) {
  if (adapter.base_sha256.empty() || adapter.base_sha256 == model_sha256) return {};
  return fmt::format(
      "{}: trained on another base ({}, SHA-256 {:.12}…) than this one (SHA-256 {:.12}…); expect worse "
      "answers, or train it again",
      adapter_name, adapter.base_name.empty() ? "of unknown name" : adapter.base_name, adapter.base_sha256,
      model_sha256);
}

}  // namespace cudal1
