#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace cudal1 {

//! A regular file's bytes in memory, read as they are touched. Whoever shortens the file meanwhile ends this process.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);  //!< throws Error with the path and the reason
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(mapping_), size_}; }

 private:
  void* mapping_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace cudal1
