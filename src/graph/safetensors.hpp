// Reads the safetensors format: an eight-byte header length, a JSON header, then the tensors' bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

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
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  const StoredTensor* find(const std::string& key) const;
  std::string_view file_bytes() const { return {static_cast<const char*>(mapping_), mapped_bytes_}; }

 private:
  void map(const std::filesystem::path& path);
  void read_header(const std::filesystem::path& path);

  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::map<std::string, StoredTensor> tensors_;
};

}  // namespace cudal1
