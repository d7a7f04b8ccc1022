#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace cudal1 {

//! Results by the hash of everything that determines them, one file each. Many processes may share a folder; a torn
//! or corrupted file is a miss and is removed; the least recently used entries go when the size limit is reached. A
//! folder that cannot be written only means fewer hits.
class CompileCache {
 public:
  static constexpr std::uint64_t default_limit_bytes = std::uint64_t{2} << 30;

  explicit CompileCache(std::filesystem::path folder, std::uint64_t limit_bytes = default_limit_bytes);

  std::optional<std::string> load(const std::string& key);  //!< key: hexadecimal digits
  void store(const std::string& key, std::string_view content);

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path path_of(const std::string& key) const;
  void count_bytes(std::uint64_t added);
  std::uint64_t evict();
  void warn_once(const std::string& reason);

  std::filesystem::path folder_;
  std::uint64_t limit_bytes_;
  std::mutex warning_mutex_;
  bool warned_ = false;
};

}  // namespace cudal1
