// Reads the safetensors format: an eight-byte header length, a JSON header, then the tensors' bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/mapped_file.hpp"
#include "graph/tensor_meta.hpp"

namespace cudal1 {

//! A tensor inside a mapped file; `bytes` is as long as dtype and sizes say.
struct StoredTensor {
  TensorMeta meta;  //!< always contiguous
  std::span<const std::byte> bytes;
};

//! What the format calls a dtype: "F32". Throws Error for one that it does not know.
std::string stored_name(DType dtype);

//! A memory-mapped safetensors file. Nothing in it is trusted: every offset is checked when it is opened.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);  //!< throws Error with the path and the reason

  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  const StoredTensor* find(const std::string& key) const;
  std::string_view file_bytes() const {
    return {reinterpret_cast<const char*>(file_.bytes().data()), file_.bytes().size()};
  }

 private:
  void read_header(const std::filesystem::path& path);

  MappedFile file_;
  std::map<std::string, StoredTensor> tensors_;
};

}  // namespace cudal1
