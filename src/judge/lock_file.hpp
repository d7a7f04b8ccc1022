#pragma once

#include <filesystem>

#include "base/unique_fd.hpp"

namespace cudal1 {

//! A file that processes of all users lock, in a folder that everybody may write to. It is made where it is missing,
//! also when it was removed since. The functions throw Error when it can be neither made nor opened, or when something
//! else has its name.
class LockFile {
 public:
  explicit LockFile(std::filesystem::path path);

  //! Wait for the lock; closing what they return releases it, as the end of the process does.
  [[nodiscard]] UniqueFd share() const;
  [[nodiscard]] UniqueFd alone() const;
  //! Do some share it now?
  bool is_shared() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  UniqueFd open() const;
  void make() const;
  UniqueFd take(int operation) const;
  std::filesystem::path path_;
};

}  // namespace cudal1
