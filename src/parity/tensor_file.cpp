#include "parity/tensor_file.hpp"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/result.hpp"
#include "graph/aten_call.hpp"
#include "graph/safetensors.hpp"

namespace cudal1 {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");

std::string header_of(const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
  nlohmann::json header = nlohmann::json::object();
  std::size_t begin = 0;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", stored_name(from_scalar_type(tensor.scalar_type()))},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {begin, begin + tensor.nbytes()}}};
    begin += tensor.nbytes();
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

void save_tensors(const NamedTensors& tensors, const std::filesystem::path& path) {
  std::vector<std::pair<std::string, at::Tensor>> plain;
  for (const auto& [name, tensor] : tensors) plain.emplace_back(name, tensor.cpu().contiguous());
  const std::string header = header_of(plain);
  const std::uint64_t length = header.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const auto& [name, tensor] : plain)
    if (tensor.nbytes() > 0)
      file.write(static_cast<const char*>(tensor.const_data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
  file.close();
  if (!file) throw Error(fmt::format("{}: cannot be written; is the disk full?", path.string()));
}

NamedTensors load_tensors(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  NamedTensors tensors;
  for (const auto& [name, stored] : file.tensors()) {
    at::Tensor tensor = at::empty(stored.meta.sizes, at::TensorOptions().dtype(to_scalar_type(stored.meta.dtype)));
    if (!stored.bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
    tensors.emplace(name, std::move(tensor));
  }
  return tensors;
}

}  // namespace cudal1
