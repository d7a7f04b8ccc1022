#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace cudal1 {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) throw Error(fmt::format("{}: {}", path.string(), std::strerror(errno)));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw Error(fmt::format("{}: {}", path.string(), std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) throw Error(fmt::format("{}: not a regular file", path.string()));
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // nothing to map
  mapping_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapping_ == MAP_FAILED) throw Error(fmt::format("{}: {}", path.string(), std::strerror(errno)));
}

MappedFile::~MappedFile() {
  if (mapping_) ::munmap(mapping_, size_);
}

}  // namespace cudal1
