// Writes the safetensors format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "graph/tensor_meta.hpp"

namespace cudal1 {

//! A tensor to be written; its bytes are contiguous.
struct WrittenTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> sizes;
  std::span<const std::byte> bytes;
};

//! Readers see the old file or the new one, never a part. Throws Error with the path and the reason.
void write_safetensors(const std::vector<WrittenTensor>& tensors, const std::filesystem::path& path);

}  // namespace cudal1
