#include "judge/lock_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr mode_t for_everybody = 0666;
constexpr int most_attempts = 100;

//! Is the open file still the one that others find under its name? Cleaners of /tmp remove old files.
bool still_has_its_name(const UniqueFd& file, const std::filesystem::path& path) {
  struct stat open_file {
  }, named_file{};
  return ::fstat(file.get(), &open_file) == 0 && ::lstat(path.c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

}  // namespace

LockFile::LockFile(std::filesystem::path path) : path_(std::move(path)) { open(); }

//! Leaves a file alone that has the name by now. The file gets its name when everybody may open it, not before: in a
//! shared folder another user may look at any moment.
void LockFile::make() const {
  std::string name = path_.string() + ".XXXXXX";
  const UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
  const bool made = file && ::fchmod(file.get(), for_everybody) == 0 && ::link(name.c_str(), path_.c_str()) == 0;
  const int reason = errno;
  if (file) ::unlink(name.c_str());
  if (!made && reason != EEXIST)
    throw Error(fmt::format("{}: cannot make the GPU's lock: {}", path_.string(), std::strerror(reason)));
}

UniqueFd LockFile::open() const {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    // Reading is enough for flock, so a file of any user will do; O_CREAT would be refused for one of another user in
    // a sticky folder. A symbolic link is not followed, a pipe does not block.
    UniqueFd file(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file && errno == ENOENT) {
      make();
      continue;
    }
    if (!file && errno == ELOOP) throw Error(fmt::format("{} is a symbolic link: remove it", path_.string()));
    if (!file) throw Error(fmt::format("{}: cannot open the GPU's lock: {}", path_.string(), std::strerror(errno)));
    struct stat info {};
    if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
      throw Error(fmt::format("{} is not a plain file: remove it", path_.string()));
    return file;
  }
  throw Error(fmt::format("{}: the GPU's lock is removed again and again", path_.string()));
}

UniqueFd LockFile::take(int operation) const {
  for (;;) {
    UniqueFd file = open();
    while (::flock(file.get(), operation) != 0)
      if (errno != EINTR) throw Error(fmt::format("{}: cannot lock: {}", path_.string(), std::strerror(errno)));
    if (still_has_its_name(file, path_)) return file;
  }
}

UniqueFd LockFile::share() const { return take(LOCK_SH); }
UniqueFd LockFile::alone() const { return take(LOCK_EX); }

bool LockFile::is_shared() const {
  const UniqueFd file = open();
  const bool is_free = ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
  return !is_free && ::flock(file.get(), LOCK_SH | LOCK_NB) == 0;
}

}  // namespace cudal1
