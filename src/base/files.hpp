#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"

namespace cudal1 {

//! Reads a regular file whole. Throws Error with the path and the reason, also when it is larger than max_bytes.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = std::size_t{1} << 30);

//! Readers see the old content or the new, never a part; throws Error (a full disk leaves no partial file).
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

//! Where caches go: $CUDAL1_CACHE_DIR, else $XDG_CACHE_HOME/cudal1, else ~/.cache/cudal1.
std::filesystem::path cache_directory();

//! Where the archive goes: $CUDAL1_DATA_DIR, else $XDG_DATA_HOME/cudal1, else ~/.local/share/cudal1.
std::filesystem::path data_directory();

//! The folder of the running executable; our other executables and plug-ins lie beside it.
std::filesystem::path executable_directory();

//! An anonymous memory file with these bytes, sealed against change. For handing blobs to child processes.
UniqueFd make_sealed_memory(std::string_view name, std::string_view bytes);

// LibTorch's libraries export a std::filesystem of another compiler's making, which a program may get instead of its
// own. A benchmark that removed a folder with it crashed; these two do without.

//! All regular files below a folder, sorted; none if it cannot be read.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

//! Removes a folder and everything below it, as far as that is possible. Does not follow links.
void remove_folder(const std::filesystem::path& folder);

//! A new folder that goes with this object. What killed processes of this user left goes when a new one is made.
class TemporaryFolder {
 public:
  TemporaryFolder();  //!< throws Error
  ~TemporaryFolder() { remove_folder(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  UniqueFd owned_;  //!< locked: whoever looks for orphans sees that its process lives
};

}  // namespace cudal1
