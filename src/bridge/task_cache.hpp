// Exported tasks on disk, least recently used ones removed. Safe with many users: a folder appears whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace cudal1 {

class TaskCache {
 public:
  explicit TaskCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  //! The folder of this key. If there is none, or `is_current` says it is out of date, `make` makes it at a path that
  //! it is given; what `make` throws leaves nothing behind.
  std::filesystem::path get(const std::string& key, const std::function<bool(const std::filesystem::path&)>& is_current,
                            const std::function<void(const std::filesystem::path&)>& make) const;

  //! Removes folders that were not used for a day, the oldest first, until the rest is not larger.
  void shrink_to(std::uintmax_t bytes) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace cudal1
