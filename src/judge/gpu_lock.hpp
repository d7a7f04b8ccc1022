#pragma once

#include <filesystem>
#include <string>

#include "base/unique_fd.hpp"

namespace cudal1 {

//! One lock a GPU, shared by all processes and users of the machine: measuring takes it alone, everything else that
//! uses the GPU shares it. The operating system releases it when a process dies.
class GpuLock {
 public:
  //! `folder` may be one that everybody writes to. Throws Error when the lock file can be neither made nor opened, or
  //! when something else has its name.
  explicit GpuLock(const std::string& gpu_id, const std::filesystem::path& folder = "/tmp");

  //! Held until this goes.
  class Guard {
   public:
    Guard(Guard&&) noexcept = default;
    Guard& operator=(Guard&&) = delete;

   private:
    friend class GpuLock;
    explicit Guard(UniqueFd file) : file_(std::move(file)) {}
    UniqueFd file_;  // closing it releases the lock
  };

  //! Not while this process holds the other kind: each waits for the other.
  [[nodiscard]] Guard share();
  [[nodiscard]] Guard alone();
  const std::filesystem::path& path() const { return path_; }

 private:
  UniqueFd open_file() const;
  bool make_file() const;
  Guard take(int operation) const;
  std::filesystem::path path_;
};

}  // namespace cudal1
