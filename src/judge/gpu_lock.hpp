#pragma once

#include <filesystem>
#include <string>

#include "base/unique_fd.hpp"

namespace cudal1 {

//! One lock a GPU, shared by all processes of the machine: measuring takes it alone, everything else that uses the GPU
//! shares it. The operating system releases it when a process dies.
class GpuLock {
 public:
  //! Throws Error when the lock file can be neither made nor opened.
  explicit GpuLock(const std::string& gpu_id);

  //! Held until this goes.
  class Guard {
   public:
    ~Guard();
    Guard(Guard&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Guard& operator=(Guard&&) = delete;

   private:
    friend class GpuLock;
    explicit Guard(int fd) : fd_(fd) {}
    int fd_;
  };

  [[nodiscard]] Guard share();
  [[nodiscard]] Guard alone();
  const std::filesystem::path& path() const { return path_; }

 private:
  Guard take(int operation);
  std::filesystem::path path_;
  UniqueFd file_;
};

}  // namespace cudal1
