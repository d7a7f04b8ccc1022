// A file of lines that is only ever added to, each line on disk as soon as it is known.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

#include "base/unique_fd.hpp"

namespace cudal1 {

//! Safe from many threads.
class LineLog {
 public:
  //! Opens or makes it; a line that a kill cut short is ended. Throws Error.
  explicit LineLog(const std::filesystem::path& file);
  //! Returns when neither a kill nor a power cut loses it. Throws Error.
  void append(const std::string& line);

 private:
  std::filesystem::path file_;
  UniqueFd descriptor_;
  std::mutex mutex_;
};

//! Whatever stands behind so many lines goes; nothing happens where there is no file. For logs
//! that are to go on from where a checkpoint was written. Throws Error.
void keep_first_lines(const std::filesystem::path& file, std::int64_t lines);

}  // namespace cudal1
