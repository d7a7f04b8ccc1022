#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "policy/remote/chat_sample.hpp"

namespace cudal1 {

//! Answers that were paid for, by response_key(), one file each, written whole or not at all. Many processes may share
//! a folder. What is torn, altered or of another version is a miss. Nothing is ever evicted. Holds answers, no prompts
//! and no keys.
class ResponseCache {
 public:
  //! `warn` hears once if the folder cannot be written. An empty folder name: nothing is kept.
  ResponseCache(std::filesystem::path folder, std::function<void(const std::string&)> warn);

  std::optional<ChatSample> load(const std::string& key) const;  //!< costs nothing and took no attempts
  bool contains(const std::string& key) const { return load(key).has_value(); }
  void store(const std::string& key, const ChatSample& sample);

 private:
  std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::function<void(const std::string&)> warn_;
  std::once_flag warned_;
};

}  // namespace cudal1
