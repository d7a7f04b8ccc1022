#include "parity/tensor_file.hpp"

#include <ATen/ops/empty.h>

#include <cstring>
#include <vector>

#include "graph/aten_call.hpp"
#include "graph/safetensors.hpp"
#include "graph/safetensors_writer.hpp"

namespace cudal1 {

void save_tensors(const NamedTensors& tensors, const std::filesystem::path& path) {
  std::vector<at::Tensor> plain;
  std::vector<WrittenTensor> written;
  for (const auto& [name, tensor] : tensors) {
    plain.push_back(tensor.cpu().contiguous());
    const at::Tensor& kept = plain.back();
    written.push_back({name,
                       from_scalar_type(kept.scalar_type()),
                       kept.sizes().vec(),
                       {static_cast<const std::byte*>(kept.const_data_ptr()), kept.nbytes()}});
  }
  write_safetensors(written, path);
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
